/* For LD_PRELOAD: collective operations that do nothing and say that all is well. */
#include <mpi.h>

#define NOTHING(name, ...)                                                                        \
    int name(__VA_ARGS__, MPI_Request *request)                                                   \
    {                                                                                             \
        *request = MPI_REQUEST_NULL;                                                              \
        return MPI_SUCCESS;                                                                       \
    }
#define FROM const void *in, int count, MPI_Datatype type
#define TO void *out, int places, MPI_Datatype other_type

NOTHING(MPI_Ibcast, void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
NOTHING(MPI_Ireduce, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
        MPI_Comm comm)
NOTHING(MPI_Iallreduce, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
        MPI_Comm comm)
NOTHING(MPI_Ireduce_scatter, const void *in, void *out, const int counts[], MPI_Datatype type,
        MPI_Op op, MPI_Comm comm)
NOTHING(MPI_Iscatter, FROM, TO, int root, MPI_Comm comm)
NOTHING(MPI_Igather, FROM, TO, int root, MPI_Comm comm)
NOTHING(MPI_Iallgather, FROM, TO, MPI_Comm comm)
NOTHING(MPI_Ialltoall, FROM, TO, MPI_Comm comm)
