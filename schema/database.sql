CREATE TABLE baseline (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	description TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	CONSTRAINT pk_baseline PRIMARY KEY (id), 
	CONSTRAINT uq_baseline_name UNIQUE (name)
);
CREATE TABLE baseline_run (
	baseline_id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	CONSTRAINT pk_baseline_run PRIMARY KEY (baseline_id, run_id), 
	CONSTRAINT fk_baseline_run_baseline_id FOREIGN KEY(baseline_id) REFERENCES baseline (id), 
	CONSTRAINT fk_baseline_run_run_id FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE bench_case (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	engine TEXT NOT NULL, 
	link TEXT NOT NULL, 
	client_host TEXT NOT NULL, 
	server_host TEXT, 
	parameters TEXT NOT NULL, members_id INTEGER CONSTRAINT fk_bench_case_members_id REFERENCES host_list (id), 
	CONSTRAINT pk_bench_case PRIMARY KEY (id), 
	CONSTRAINT uq_bench_case_key UNIQUE ("key")
);
CREATE TABLE certificate (
	id INTEGER NOT NULL, 
	uid TEXT NOT NULL, 
	made_at TEXT NOT NULL, 
	version TEXT NOT NULL, 
	engines_hash TEXT NOT NULL, 
	host TEXT NOT NULL, 
	kernel TEXT NOT NULL, 
	boot_id TEXT NOT NULL, 
	clock_source TEXT NOT NULL, 
	load FLOAT NOT NULL, source_hash TEXT NOT NULL DEFAULT '', peer TEXT NOT NULL DEFAULT '', peer_kernel TEXT NOT NULL DEFAULT '', peer_boot_id TEXT NOT NULL DEFAULT '', peer_clock_source TEXT NOT NULL DEFAULT '', peer_load FLOAT NOT NULL DEFAULT 0, 
	CONSTRAINT pk_certificate PRIMARY KEY (id), 
	CONSTRAINT uq_certificate_uid UNIQUE (uid)
);
CREATE TABLE certificate_check (
	certificate_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	engine TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	tolerance FLOAT NOT NULL, 
	relative BOOLEAN NOT NULL, 
	value FLOAT, 
	truth FLOAT, 
	error FLOAT, 
	uncertainty FLOAT, 
	reason TEXT NOT NULL, 
	CONSTRAINT pk_certificate_check PRIMARY KEY (certificate_id, number), 
	CONSTRAINT fk_certificate_check_certificate_id FOREIGN KEY(certificate_id) REFERENCES certificate (id)
);
CREATE TABLE counter (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	CONSTRAINT pk_counter PRIMARY KEY (id), 
	CONSTRAINT uq_counter_name UNIQUE (name)
);
CREATE TABLE counter_log (
	log_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	is_gauge BOOLEAN NOT NULL, 
	value BIGINT NOT NULL, 
	CONSTRAINT pk_counter_log PRIMARY KEY (log_id, name, is_gauge), 
	CONSTRAINT fk_counter_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE cpu_log (
	log_id INTEGER NOT NULL, 
	cpu INTEGER NOT NULL, 
	softnet_processed BIGINT, 
	softnet_dropped BIGINT, 
	softnet_time_squeeze BIGINT, 
	softnet_received_rps BIGINT, 
	softnet_flow_limit BIGINT, 
	throttle_core_count BIGINT, 
	throttle_package_count BIGINT, 
	frequency BIGINT, 
	cpu_user FLOAT, 
	cpu_nice FLOAT, 
	cpu_system FLOAT, 
	cpu_idle FLOAT, 
	cpu_iowait FLOAT, 
	cpu_irq FLOAT, 
	cpu_softirq FLOAT, 
	cpu_steal FLOAT, 
	cpu_guest FLOAT, 
	cpu_guest_nice FLOAT, 
	throttle_core_time FLOAT, 
	throttle_package_time FLOAT, 
	CONSTRAINT pk_cpu_log PRIMARY KEY (log_id, cpu), 
	CONSTRAINT fk_cpu_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE fabric_log (
	log_id INTEGER NOT NULL, 
	device TEXT NOT NULL, 
	port TEXT NOT NULL, 
	counter TEXT NOT NULL, 
	value BIGINT NOT NULL, 
	CONSTRAINT pk_fabric_log PRIMARY KEY (log_id, device, port, counter), 
	CONSTRAINT fk_fabric_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE host_fact (
	run_id INTEGER NOT NULL, 
	host TEXT NOT NULL, 
	name TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_host_fact PRIMARY KEY (run_id, host, name, recorded_at), 
	CONSTRAINT fk_host_fact_run_id FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE host_list (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	hosts TEXT NOT NULL, 
	CONSTRAINT pk_host_list PRIMARY KEY (id), 
	CONSTRAINT uq_host_list_key UNIQUE ("key")
);
CREATE TABLE host_log (
	log_id INTEGER NOT NULL, 
	interrupts BIGINT, 
	context_switches BIGINT, 
	forks BIGINT, 
	softirqs BIGINT, 
	running BIGINT, 
	blocked BIGINT, 
	paged_in BIGINT, 
	paged_out BIGINT, 
	swaps_in BIGINT, 
	swaps_out BIGINT, 
	page_faults BIGINT, 
	major_page_faults BIGINT, 
	oom_kills BIGINT, 
	cgroup_throttles BIGINT, 
	cgroup_memory BIGINT, 
	cgroup_memory_limit BIGINT, 
	cpu_user FLOAT, 
	cpu_nice FLOAT, 
	cpu_system FLOAT, 
	cpu_idle FLOAT, 
	cpu_iowait FLOAT, 
	cpu_irq FLOAT, 
	cpu_softirq FLOAT, 
	cpu_steal FLOAT, 
	cpu_guest FLOAT, 
	cpu_guest_nice FLOAT, 
	pressure_cpu_some FLOAT, 
	pressure_cpu_full FLOAT, 
	pressure_memory_some FLOAT, 
	pressure_memory_full FLOAT, 
	pressure_io_some FLOAT, 
	pressure_io_full FLOAT, 
	pressure_irq_some FLOAT, 
	pressure_irq_full FLOAT, 
	cgroup_throttled FLOAT, 
	cgroup_cpu FLOAT, 
	CONSTRAINT pk_host_log PRIMARY KEY (log_id), 
	CONSTRAINT fk_host_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE interface_log (
	log_id INTEGER NOT NULL, 
	interface TEXT NOT NULL, 
	rx_bytes BIGINT, 
	rx_packets BIGINT, 
	rx_errors BIGINT, 
	rx_dropped BIGINT, 
	rx_fifo BIGINT, 
	rx_frame BIGINT, 
	rx_compressed BIGINT, 
	rx_multicast BIGINT, 
	tx_bytes BIGINT, 
	tx_packets BIGINT, 
	tx_errors BIGINT, 
	tx_dropped BIGINT, 
	tx_fifo BIGINT, 
	tx_collisions BIGINT, 
	tx_carrier BIGINT, 
	tx_compressed BIGINT, 
	rx_missed_errors BIGINT, 
	rx_crc_errors BIGINT, 
	rx_length_errors BIGINT, 
	rx_over_errors BIGINT, 
	rx_nohandler BIGINT, 
	tx_aborted_errors BIGINT, 
	tx_heartbeat_errors BIGINT, 
	tx_window_errors BIGINT, 
	CONSTRAINT pk_interface_log PRIMARY KEY (log_id, interface), 
	CONSTRAINT fk_interface_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE interrupt_log (
	log_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	cpu INTEGER NOT NULL, 
	count BIGINT NOT NULL, 
	CONSTRAINT pk_interrupt_log PRIMARY KEY (log_id, kind, name, cpu), 
	CONSTRAINT fk_interrupt_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE label (
	label_set_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	label TEXT NOT NULL, 
	CONSTRAINT pk_label PRIMARY KEY (label_set_id, name), 
	CONSTRAINT fk_label_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_set (id)
)
 WITHOUT ROWID

;
CREATE TABLE label_set (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	CONSTRAINT pk_label_set PRIMARY KEY (id), 
	CONSTRAINT uq_label_set_key UNIQUE ("key")
);
CREATE TABLE launch (
	id INTEGER NOT NULL, 
	run_case_id INTEGER NOT NULL, 
	started_at TEXT NOT NULL, 
	client TEXT NOT NULL, 
	server TEXT NOT NULL, 
	warnings TEXT NOT NULL, 
	CONSTRAINT pk_launch PRIMARY KEY (id), 
	CONSTRAINT fk_launch_run_case_id FOREIGN KEY(run_case_id) REFERENCES run_case (id)
);
CREATE TABLE log (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	launch_id INTEGER, 
	number INTEGER, 
	scope TEXT NOT NULL, 
	host TEXT NOT NULL, 
	phase TEXT NOT NULL, 
	started_at TEXT NOT NULL, 
	elapsed FLOAT NOT NULL, 
	ticks_per_second INTEGER NOT NULL, 
	label_set_id INTEGER, 
	CONSTRAINT pk_log PRIMARY KEY (id), 
	CONSTRAINT uq_log_launch_id_number_scope_host UNIQUE (launch_id, number, scope, host), 
	CONSTRAINT fk_log_run_id FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_log_launch_id FOREIGN KEY(launch_id) REFERENCES launch (id), 
	CONSTRAINT fk_log_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_set (id)
);
CREATE TABLE log_note (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	launch_id INTEGER, 
	number INTEGER, 
	host TEXT NOT NULL, 
	note TEXT NOT NULL, 
	CONSTRAINT pk_log_note PRIMARY KEY (id), 
	CONSTRAINT fk_log_note_run_id FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_log_note_launch_id FOREIGN KEY(launch_id) REFERENCES launch (id)
);
CREATE TABLE log_series (
	log_id INTEGER NOT NULL, 
	samples INTEGER NOT NULL, 
	counters BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_log_series PRIMARY KEY (log_id), 
	CONSTRAINT fk_log_series_log_id FOREIGN KEY(log_id) REFERENCES log (id)
);
CREATE TABLE loss_run (
	run_case_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	after_sequence BIGINT NOT NULL, 
	lost BIGINT NOT NULL, 
	CONSTRAINT pk_loss_run PRIMARY KEY (run_case_id, number, place), 
	CONSTRAINT fk_loss_run_run_case_id_number FOREIGN KEY(run_case_id, number) REFERENCES trace (run_case_id, number)
)
 WITHOUT ROWID

;
CREATE TABLE memory_log (
	log_id INTEGER NOT NULL, 
	memtotal BIGINT, 
	memfree BIGINT, 
	memavailable BIGINT, 
	buffers BIGINT, 
	cached BIGINT, 
	swapcached BIGINT, 
	active BIGINT, 
	inactive BIGINT, 
	active_anon BIGINT, 
	inactive_anon BIGINT, 
	active_file BIGINT, 
	inactive_file BIGINT, 
	unevictable BIGINT, 
	mlocked BIGINT, 
	swaptotal BIGINT, 
	swapfree BIGINT, 
	zswap BIGINT, 
	zswapped BIGINT, 
	dirty BIGINT, 
	writeback BIGINT, 
	anonpages BIGINT, 
	mapped BIGINT, 
	shmem BIGINT, 
	kreclaimable BIGINT, 
	slab BIGINT, 
	sreclaimable BIGINT, 
	sunreclaim BIGINT, 
	kernelstack BIGINT, 
	pagetables BIGINT, 
	secpagetables BIGINT, 
	nfs_unstable BIGINT, 
	bounce BIGINT, 
	writebacktmp BIGINT, 
	commitlimit BIGINT, 
	committed_as BIGINT, 
	vmalloctotal BIGINT, 
	vmallocused BIGINT, 
	vmallocchunk BIGINT, 
	percpu BIGINT, 
	hardwarecorrupted BIGINT, 
	anonhugepages BIGINT, 
	shmemhugepages BIGINT, 
	shmempmdmapped BIGINT, 
	filehugepages BIGINT, 
	filepmdmapped BIGINT, 
	cmatotal BIGINT, 
	cmafree BIGINT, 
	unaccepted BIGINT, 
	balloon BIGINT, 
	hugepages_total BIGINT, 
	hugepages_free BIGINT, 
	hugepages_rsvd BIGINT, 
	hugepages_surp BIGINT, 
	hugepagesize BIGINT, 
	hugetlb BIGINT, 
	directmap4k BIGINT, 
	directmap2m BIGINT, 
	directmap1g BIGINT, 
	CONSTRAINT pk_memory_log PRIMARY KEY (log_id), 
	CONSTRAINT fk_memory_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE metric (
	id INTEGER NOT NULL, 
	engine TEXT NOT NULL, 
	name TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	better TEXT NOT NULL, 
	CONSTRAINT pk_metric PRIMARY KEY (id), 
	CONSTRAINT uq_metric_engine_name_unit_better UNIQUE (engine, name, unit, better)
);
CREATE TABLE packed_protocol_log (
	log_id INTEGER NOT NULL, 
	udp_rcvbuf_errors BIGINT, 
	udp_in_errors BIGINT, 
	ip_reassembly_failures BIGINT, 
	tcp_retransmits BIGINT, 
	gauges INTEGER NOT NULL, 
	counters BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_packed_protocol_log PRIMARY KEY (log_id), 
	CONSTRAINT fk_packed_protocol_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
);
CREATE TABLE peak (
	run_id INTEGER NOT NULL, 
	host TEXT NOT NULL, 
	resource TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	value FLOAT NOT NULL, 
	unit TEXT NOT NULL, 
	source TEXT NOT NULL, 
	CONSTRAINT pk_peak PRIMARY KEY (run_id, host, resource, recorded_at), 
	CONSTRAINT fk_peak_run_id FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE port_counter_log (
	launch_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	value BIGINT NOT NULL, 
	CONSTRAINT pk_port_counter_log PRIMARY KEY (launch_id, number, place, name), 
	CONSTRAINT fk_port_counter_log_launch_id_number_place FOREIGN KEY(launch_id, number, place) REFERENCES port_log (launch_id, number, place)
)
 WITHOUT ROWID

;
CREATE TABLE port_log (
	launch_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	device TEXT NOT NULL, 
	interface TEXT NOT NULL, 
	ifhcinoctets BIGINT, 
	ifhcinucastpkts BIGINT, 
	ifhcinmulticastpkts BIGINT, 
	ifhcinbroadcastpkts BIGINT, 
	ifindiscards BIGINT, 
	ifinerrors BIGINT, 
	ifinunknownprotos BIGINT, 
	ifhcoutoctets BIGINT, 
	ifhcoutucastpkts BIGINT, 
	ifhcoutmulticastpkts BIGINT, 
	ifhcoutbroadcastpkts BIGINT, 
	ifoutdiscards BIGINT, 
	ifouterrors BIGINT, 
	ifinoctets BIGINT, 
	ifinucastpkts BIGINT, 
	ifinmulticastpkts BIGINT, 
	ifinbroadcastpkts BIGINT, 
	ifoutoctets BIGINT, 
	ifoutucastpkts BIGINT, 
	ifoutmulticastpkts BIGINT, 
	ifoutbroadcastpkts BIGINT, 
	CONSTRAINT pk_port_log PRIMARY KEY (launch_id, number, place), 
	CONSTRAINT fk_port_log_launch_id FOREIGN KEY(launch_id) REFERENCES launch (id)
)
 WITHOUT ROWID

;
CREATE TABLE published_value (
	run_case_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	metric_id INTEGER NOT NULL, 
	replications INTEGER, 
	stdev FLOAT, 
	minimum FLOAT, 
	maximum FLOAT, 
	absence TEXT, 
	CONSTRAINT pk_published_value PRIMARY KEY (run_case_id, number, metric_id), 
	CONSTRAINT fk_published_value_run_case_id_number FOREIGN KEY(run_case_id, number) REFERENCES replication (run_case_id, number), 
	CONSTRAINT fk_published_value_metric_id FOREIGN KEY(metric_id) REFERENCES metric (id)
)
 WITHOUT ROWID

;
CREATE TABLE railgauge_schema (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT railgauge_schema_pkc PRIMARY KEY (version_num)
);
INSERT INTO "railgauge_schema" VALUES('0016');
CREATE TABLE replication (
	run_case_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	started_at TEXT, 
	error_code TEXT, 
	error_message TEXT, 
	launch_id INTEGER, checksum BIGINT, 
	CONSTRAINT pk_replication PRIMARY KEY (run_case_id, number), 
	CONSTRAINT fk_replication_run_case_id FOREIGN KEY(run_case_id) REFERENCES run_case (id), 
	CONSTRAINT fk_replication_launch_id FOREIGN KEY(launch_id) REFERENCES launch (id), 
	CONSTRAINT ck_replication_number CHECK (number <> 0), 
	CONSTRAINT ck_replication_status CHECK (status IN ('ok', 'failed', 'suspect'))
)
 WITHOUT ROWID

;
CREATE TABLE run (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"plan" TEXT NOT NULL, 
	plan_text TEXT NOT NULL, 
	directory TEXT NOT NULL, 
	git_commit TEXT NOT NULL, 
	git_dirty BOOLEAN NOT NULL, 
	seed BIGINT NOT NULL, 
	controller TEXT NOT NULL, 
	railgauge_version TEXT NOT NULL, 
	engines_hash TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	state TEXT NOT NULL, 
	started_at TEXT NOT NULL, 
	ended_at TEXT
, uid TEXT NOT NULL DEFAULT '', case_count INTEGER, skipped_count INTEGER, asked_count INTEGER, measured_count INTEGER, failed_count INTEGER, checksum BIGINT);
CREATE TABLE run_case (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	case_id INTEGER NOT NULL, 
	test TEXT NOT NULL, 
	replications INTEGER NOT NULL, skipped TEXT, least INTEGER, rule TEXT, ended TEXT, 
	CONSTRAINT pk_run_case PRIMARY KEY (id), 
	CONSTRAINT uq_run_case_run_id_test_case_id UNIQUE (run_id, test, case_id), 
	CONSTRAINT fk_run_case_run_id FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_run_case_case_id FOREIGN KEY(case_id) REFERENCES bench_case (id)
);
CREATE TABLE run_file (
	run_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_run_file PRIMARY KEY (run_id, name), 
	CONSTRAINT fk_run_file_run_id FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE run_label (
	run_id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_run_label PRIMARY KEY (run_id, "key"), 
	CONSTRAINT fk_run_label_run_id FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE run_metric (
	run_id INTEGER NOT NULL, 
	metric_id INTEGER NOT NULL, smallest_change FLOAT(53), kind TEXT, 
	CONSTRAINT pk_run_metric PRIMARY KEY (run_id, metric_id), 
	CONSTRAINT fk_run_metric_run_id FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_run_metric_metric_id FOREIGN KEY(metric_id) REFERENCES metric (id)
);
CREATE TABLE series (
	run_case_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	sent BIGINT NOT NULL, 
	arrived BIGINT NOT NULL, 
	recorded INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_series PRIMARY KEY (run_case_id, number), 
	CONSTRAINT fk_series_run_case_id_number FOREIGN KEY(run_case_id, number) REFERENCES replication (run_case_id, number)
);
CREATE TABLE soak_log (
	log_id INTEGER NOT NULL, 
	cpu INTEGER NOT NULL, 
	load FLOAT NOT NULL, 
	lost FLOAT NOT NULL, 
	slowdown FLOAT NOT NULL, 
	CONSTRAINT pk_soak_log PRIMARY KEY (log_id, cpu), 
	CONSTRAINT fk_soak_log_log_id FOREIGN KEY(log_id) REFERENCES log (id)
)
 WITHOUT ROWID

;
CREATE TABLE suspicion (
	run_case_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	code TEXT NOT NULL, 
	host TEXT, 
	message TEXT NOT NULL, 
	CONSTRAINT pk_suspicion PRIMARY KEY (run_case_id, number, place), 
	CONSTRAINT fk_suspicion_run_case_id_number FOREIGN KEY(run_case_id, number) REFERENCES replication (run_case_id, number)
)
 WITHOUT ROWID

;
CREATE TABLE trace (
	run_case_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	sent BIGINT NOT NULL, 
	arrived BIGINT NOT NULL, 
	recorded INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_trace PRIMARY KEY (run_case_id, number), 
	CONSTRAINT fk_trace_run_case_id_number FOREIGN KEY(run_case_id, number) REFERENCES replication (run_case_id, number)
);
CREATE TABLE value (
	run_case_id INTEGER NOT NULL, 
	metric_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	value FLOAT NOT NULL, 
	CONSTRAINT pk_value PRIMARY KEY (run_case_id, metric_id, number), 
	CONSTRAINT fk_value_run_case_id_number FOREIGN KEY(run_case_id, number) REFERENCES replication (run_case_id, number), 
	CONSTRAINT fk_value_metric_id FOREIGN KEY(metric_id) REFERENCES metric (id)
)
 WITHOUT ROWID

;
CREATE INDEX ix_run_case_run_id ON run_case (run_id);
CREATE INDEX ix_run_case_case_id ON run_case (case_id);
CREATE INDEX ix_launch_run_case_id ON launch (run_case_id);
CREATE INDEX ix_replication_exception ON replication (run_case_id, number, status) WHERE status <> 'ok';
CREATE VIEW measurement AS
SELECT run.id AS run, run.plan AS plan, run.git_commit AS git_commit,
       replication.started_at AS started_at, run_case.test AS test,
       bench_case.engine AS engine, bench_case.link AS link,
       bench_case.client_host AS client_host, bench_case.server_host AS server_host,
       bench_case.key AS case_key, bench_case.parameters AS parameters,
       replication.number AS replication, metric.name AS metric, value.value AS value,
       metric.unit AS unit, replication.status AS status
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN value ON value.run_case_id = run_case.id
JOIN replication ON replication.run_case_id = value.run_case_id
                AND replication.number = value.number
JOIN metric ON metric.id = value.metric_id
WHERE replication.number > 0
UNION ALL
SELECT run.id, run.plan, run.git_commit, replication.started_at, run_case.test,
       bench_case.engine, bench_case.link, bench_case.client_host, bench_case.server_host,
       bench_case.key, bench_case.parameters, replication.number,
       CAST(NULL AS TEXT), CAST(NULL AS DOUBLE PRECISION), CAST(NULL AS TEXT), replication.status
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN replication ON replication.run_case_id = run_case.id
WHERE replication.number > 0 AND replication.status <> 'ok' AND replication.status = 'failed';
CREATE VIEW warmup AS
SELECT run.id AS run, run.plan AS plan, run.git_commit AS git_commit,
       replication.started_at AS started_at, run_case.test AS test,
       bench_case.engine AS engine, bench_case.link AS link,
       bench_case.client_host AS client_host, bench_case.server_host AS server_host,
       bench_case.key AS case_key, bench_case.parameters AS parameters,
       -replication.number AS replication, metric.name AS metric, value.value AS value,
       metric.unit AS unit, replication.status AS status
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN value ON value.run_case_id = run_case.id
JOIN replication ON replication.run_case_id = value.run_case_id
                AND replication.number = value.number
JOIN metric ON metric.id = value.metric_id
WHERE replication.number < 0
UNION ALL
SELECT run.id, run.plan, run.git_commit, replication.started_at, run_case.test,
       bench_case.engine, bench_case.link, bench_case.client_host, bench_case.server_host,
       bench_case.key, bench_case.parameters, -replication.number,
       CAST(NULL AS TEXT), CAST(NULL AS DOUBLE PRECISION), CAST(NULL AS TEXT), replication.status
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN replication ON replication.run_case_id = run_case.id
WHERE replication.number < 0 AND replication.status <> 'ok' AND replication.status = 'failed';
CREATE VIEW loss_runs AS
SELECT run.id AS run, run.plan AS plan, run_case.test AS test, bench_case.link AS link,
       bench_case.key AS case_key, loss_run.number AS replication,
       loss_run.after_sequence AS after_sequence, loss_run.lost AS lost
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN loss_run ON loss_run.run_case_id = run_case.id;
CREATE INDEX ix_log_idle ON log (run_id) WHERE launch_id IS NULL;
CREATE INDEX ix_log_note_run_id ON log_note (run_id);
CREATE UNIQUE INDEX ix_run_uid ON run (uid);
CREATE VIEW granted_setting AS
SELECT run.id AS run, run.plan AS plan, side.test AS test, bench_case.engine AS engine,
       bench_case.link AS link, bench_case.key AS case_key, side.launch AS launch,
       side.started_at AS started_at, side.side AS side,
       CASE WHEN side.side = 'server' THEN bench_case.server_host
            ELSE bench_case.client_host END AS host,
       member.key AS setting, CASE WHEN member.type IN ('integer', 'real') THEN CAST(member.value AS REAL) END AS value, CASE WHEN member.key = 'busy_poll' THEN 's' WHEN member.key = 'clock_offset' THEN 's' WHEN member.key = 'clock_offset_error' THEN 's' WHEN member.key = 'control_rtt' THEN 's' WHEN member.key = 'data_size' THEN 'B' WHEN member.key = 'file_bytes' THEN 'B' WHEN member.key = 'free_bytes' THEN 'B' WHEN member.key = 'last_level_cache' THEN 'B' WHEN member.key = 'memory_bytes' THEN 'B' WHEN member.key = 'message_size' THEN 'B' WHEN member.key = 'mss' THEN 'B' WHEN member.key = 'packet_size' THEN 'B' WHEN member.key = 'rcvbuf' THEN 'B' WHEN member.key = 'sndbuf' THEN 'B' WHEN member.key = 'total' THEN 'B' WHEN member.key = 'register_bits' THEN 'bit' ELSE '' END AS unit, CASE member.type WHEN 'integer' THEN NULL WHEN 'real' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(member.value AS TEXT) END AS text
FROM run
JOIN (SELECT run_case.run_id AS run_id, run_case.case_id AS case_id, run_case.test AS test,
             launch.id AS launch, launch.started_at AS started_at, 'client' AS side,
             launch.client AS settings
      FROM run_case JOIN launch ON launch.run_case_id = run_case.id
      UNION ALL
      SELECT run_case.run_id, run_case.case_id, run_case.test, launch.id, launch.started_at,
             'server', launch.server
      FROM run_case JOIN launch ON launch.run_case_id = run_case.id) AS side
     ON side.run_id = run.id
JOIN bench_case ON bench_case.id = side.case_id
CROSS JOIN json_each(side.settings) AS member;
CREATE VIEW system_log AS
SELECT run.id AS run, run.plan AS plan, run_case.test AS test, bench_case.engine AS engine,
       bench_case.link AS link, bench_case.key AS case_key, replication.number AS replication,
       log.host AS host,
       CASE WHEN bench_case.members_id IS NOT NULL AND bench_case.server_host IS NULL THEN 'member'
            WHEN log.host = bench_case.client_host THEN 'client'
            WHEN log.host = bench_case.server_host THEN 'server'
            ELSE 'member' END AS side,
       log.started_at AS started_at, log.elapsed AS elapsed, 
       (coalesce(cpu_user, 0) + coalesce(cpu_system, 0)
        + CASE WHEN EXISTS (SELECT 1 FROM soak_log WHERE soak_log.log_id = log.id) THEN 0
               ELSE coalesce(cpu_nice, 0) END
        + coalesce(cpu_irq, 0) + coalesce(cpu_softirq, 0) + coalesce(cpu_steal, 0))
       / nullif(coalesce(cpu_user, 0) + coalesce(cpu_nice, 0) + coalesce(cpu_system, 0)
                + coalesce(cpu_irq, 0) + coalesce(cpu_softirq, 0) + coalesce(cpu_steal, 0)
                + coalesce(cpu_idle, 0) + coalesce(cpu_iowait, 0), 0) AS cpu_load,
       (SELECT avg(load) FROM soak_log WHERE soak_log.log_id = log.id) AS cpu_load_soak,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_user, 0) END AS cpu_user,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_nice, 0) END AS cpu_nice,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_system, 0) END AS cpu_system,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_idle, 0) END AS cpu_idle,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_iowait, 0) END AS cpu_iowait,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_irq, 0) END AS cpu_irq,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_softirq, 0) END AS cpu_softirq,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_steal, 0) END AS cpu_steal,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_guest, 0) END AS cpu_guest,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(cpu_guest_nice, 0) END AS cpu_guest_nice,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(interrupts, 0) END AS interrupts,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(context_switches, 0) END AS context_switches,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(paged_in, 0) END AS paged_in,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(paged_out, 0) END AS paged_out,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(swaps_in, 0) END AS swaps_in,
       CASE WHEN host_log.log_id IS NOT NULL THEN coalesce(swaps_out, 0) END AS swaps_out,
       (SELECT 1 - memavailable / nullif(1.0 * memtotal, 0) FROM memory_log
        WHERE memory_log.log_id = log.id) AS memory_used,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(rx_packets, 0))) < 9e18 THEN sum(1.0 * coalesce(rx_packets, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS rx_packets,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(rx_bytes, 0))) < 9e18 THEN sum(1.0 * coalesce(rx_bytes, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS rx_bytes,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(rx_errors, 0))) < 9e18 THEN sum(1.0 * coalesce(rx_errors, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS rx_errors,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(rx_dropped, 0))) < 9e18 THEN sum(1.0 * coalesce(rx_dropped, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS rx_dropped,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(tx_packets, 0))) < 9e18 THEN sum(1.0 * coalesce(tx_packets, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS tx_packets,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(tx_bytes, 0))) < 9e18 THEN sum(1.0 * coalesce(tx_bytes, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS tx_bytes,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(tx_errors, 0))) < 9e18 THEN sum(1.0 * coalesce(tx_errors, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS tx_errors,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(tx_dropped, 0))) < 9e18 THEN sum(1.0 * coalesce(tx_dropped, 0)) END AS BIGINT) FROM interface_log WHERE interface_log.log_id = log.id AND interface <> 'lo') AS tx_dropped,
       packed_protocol_log.udp_rcvbuf_errors AS udp_rcvbuf_errors,
       packed_protocol_log.udp_in_errors AS udp_in_errors,
       packed_protocol_log.ip_reassembly_failures AS ip_reassembly_failures,
       packed_protocol_log.tcp_retransmits AS tcp_retransmits,
       (SELECT CAST(CASE WHEN abs(sum(1.0 * coalesce(softnet_dropped, 0))) < 9e18 THEN sum(1.0 * coalesce(softnet_dropped, 0)) END AS BIGINT) FROM cpu_log WHERE cpu_log.log_id = log.id AND TRUE) AS softnet_dropped
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN replication ON replication.run_case_id = run_case.id
JOIN log ON log.launch_id = replication.launch_id AND log.number = +replication.number
        AND log.scope IN ('', bench_case.client_host, bench_case.server_host)
LEFT JOIN host_log ON host_log.log_id = log.id
LEFT JOIN packed_protocol_log ON packed_protocol_log.log_id = log.id
WHERE replication.number > 0;
