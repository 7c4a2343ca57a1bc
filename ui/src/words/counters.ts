/**
 * What counters are called by people: `source/name` of the collector, in English and in Chinese.
 *
 * Invariants: a name stands in both languages or does not compile; a counter without one keeps its key; names tell no
 * unit, which stands beside each value. What a counter means exactly stands where it is read (`crates/collect`).
 * Absent on purpose: counters that are looked for by their key only, such as most of the kernel's.
 */

type Name = readonly [en: string, zh: string];

const NAMES: Record<string, Name> = {
  // The target
  "target.process/cpu_ns": ["CPU time of the target", "目标的 CPU 时间"],
  "target.process/user_ns": ["CPU time of the target in its own code", "目标的用户态 CPU 时间"],
  "target.process/system_ns": ["CPU time of the target in the kernel", "目标的内核态 CPU 时间"],
  "target.process/run_delay_ns": ["Run delay of the target: waiting for a CPU", "目标的运行延迟：等待 CPU"],
  "target.process/voluntary_switches": [
    "Context switches of the target, waiting",
    "目标的上下文切换，主动等待",
  ],
  "target.process/involuntary_switches": [
    "Context switches of the target, CPU taken away",
    "目标的上下文切换，CPU 被夺走",
  ],
  "target.process/rss_bytes": ["Resident memory of the target", "目标的常驻内存"],
  "target.process/pss_bytes": [
    "Resident memory of the target, shared pages divided",
    "目标的常驻内存，共享页均摊",
  ],
  "target.process/threads": ["Threads of the target", "目标的线程数"],
  "target.process/processes": ["Processes of the target", "目标的进程数"],
  "target.process/fds": ["Open descriptors of the target", "目标打开的描述符"],
  "target.process/fd_limit": ["Limit of open descriptors of the target", "目标的描述符上限"],
  "target.process/disk_waits": ["Threads of the target that wait for a disk", "目标等待磁盘的线程"],
  "target.process/minor_faults": ["Page faults of the target", "目标的缺页"],
  "target.process/major_faults": ["Page faults of the target that waited for a disk", "目标等待磁盘的缺页"],
  "target.process/busiest_thread_percent": ["Busiest thread of the target", "目标最忙的线程"],
  "target.process/processes_busy_cv": [
    "Spread of CPU time over the target's workers",
    "目标各工作进程 CPU 时间的离散",
  ],
  "target.holdings/descriptors": [
    "Open descriptors of the process with most",
    "描述符最多的进程打开的描述符",
  ],
  "target.holdings/sockets": ["Open sockets of the target", "目标打开的套接字"],
  "target.cgroup/cpu_ns": ["CPU time of the target's group", "目标所在控制组的 CPU 时间"],
  "target.cgroup/cpus_limit": ["CPU quota of the target, in CPUs", "目标的 CPU 配额（CPU 数）"],
  "target.cgroup/throttled_ns": ["Time throttled by the CPU quota", "因 CPU 配额被限流的时间"],
  "target.cgroup/throttled_periods": ["Periods throttled by the CPU quota", "因 CPU 配额被限流的周期"],
  "target.cgroup/memory_bytes": ["Memory of the target's group", "目标所在控制组的内存"],
  "target.cgroup/memory_reclaims": [
    "Times the target's group met its memory limit",
    "目标所在控制组触及内存上限的次数",
  ],
  "target.cgroup/oom_kills": [
    "Processes of the target killed at the memory limit",
    "目标因内存上限被终止的进程",
  ],
  "target.listen/queue": ["Connections waiting to be accepted", "等待接受的连接"],
  "target.listen/limit": ["Longest accept queue", "接收队列的最大长度"],
  "target.connections/established": ["Connections to the target", "到目标的连接"],
  "target.outgoing/connections": ["Connections that the target opened", "目标打开的连接"],
  "target.connections/rtt_p50_ns": ["Round-trip time, median", "往返时间，中位数"],
  "target.connections/rtt_p99_ns": ["Round-trip time, p99", "往返时间，p99"],
  "target.connections/retransmits": ["Segments sent again to the target", "向目标重传的报文段"],

  // Runtimes
  "go.runtime/goroutines": ["Goroutines", "goroutine 数"],
  "go.runtime/goroutines_runnable": ["Goroutines waiting for a thread", "等待线程的 goroutine"],
  "go.runtime/goroutines_created": ["Goroutines started", "启动的 goroutine"],
  "go.runtime/pool_wait_p95_ns": ["p95 of the wait for a database connection", "等待数据库连接时间的 p95"],
  "go.runtime/gc_pause_ns": ["Time in GC pauses", "垃圾回收停顿时间"],
  "go.runtime/gc_pause_max_ns": ["Longest GC pause", "最长的垃圾回收停顿"],
  "go.runtime/gc_pause_p99_ns": ["GC pause, p99", "垃圾回收停顿，p99"],
  "go.runtime/gc_pauses": ["GC pauses", "垃圾回收停顿次数"],
  "go.runtime/gc_cycles": ["Garbage collections", "垃圾回收次数"],
  "go.runtime/gc_cpu_ns": ["CPU time of garbage collection", "垃圾回收的 CPU 时间"],
  "go.runtime/gc_assist_cpu_ns": [
    "CPU time of goroutines that help collecting",
    "goroutine 协助回收的 CPU 时间",
  ],
  "go.runtime/alloc_bytes": ["Memory allocated", "分配的内存"],
  "go.runtime/alloc_objects": ["Objects allocated", "分配的对象"],
  "go.runtime/heap_bytes": ["Heap in use", "堆使用量"],
  "go.runtime/heap_live_bytes": ["Heap that the last collection left", "上次回收后存活的堆"],
  "go.runtime/heap_goal_bytes": ["Heap at which the next collection ends", "下次回收的堆目标"],
  "go.runtime/mutex_wait_ns": ["Time waited for locks", "等待锁的时间"],
  "go.runtime/sched_latency_p99_ns": ["Goroutines' wait for a thread, p99", "goroutine 等待线程的时间，p99"],
  "go.runtime/orders_waiting": ["Orders in the queue", "队列中的订单"],
  "go.runtime/orders_done": ["Orders followed", "已处理的订单"],
  "go.runtime/fallbacks": ["Calls answered with the fallback", "降级应答次数"],
  "go.runtime/guarded_calls": ["Calls through the circuit breaker", "经过熔断器的调用"],
  "node.runtime/loop_delay_p50_ns": ["Event loop delay, median", "事件循环延迟，中位数"],
  "node.runtime/loop_delay_p99_ns": ["Event loop delay, p99", "事件循环延迟，p99"],
  "node.runtime/loop_delay_max_ns": ["Event loop delay, longest", "事件循环延迟，最长"],
  "node.runtime/loop_utilisation_percent": ["Event loop utilisation", "事件循环利用率"],
  "node.runtime/heap_used_bytes": ["Heap in use", "堆使用量"],
  "node.runtime/gc_pause_ns": ["Time in GC pauses", "垃圾回收停顿时间"],
  "node.runtime/gc_cycles": ["Garbage collections", "垃圾回收次数"],
  "jvm.runtime/heap_used_bytes": ["Heap in use", "堆使用量"],
  "jvm.runtime/threads": ["Java threads", "Java 线程数"],
  "jvm.runtime/gc_pause_ns": ["Time in GC pauses", "垃圾回收停顿时间"],
  "jvm.runtime/gc_cycles": ["Garbage collections", "垃圾回收次数"],
  "jvm.runtime/gc_full_cycles": ["Full garbage collections", "完整垃圾回收次数"],
  "jvm.runtime/gc_full_cause_system_gc": ["Full collections by System.gc()", "System.gc() 引起的完整回收"],
  "jvm.runtime/gc_full_cause_allocation": [
    "Full collections by a failed allocation",
    "分配失败引起的完整回收",
  ],
  "jvm.runtime/gc_full_cause_compaction": ["Full collections by compaction", "压缩引起的完整回收"],
  "jvm.runtime/gc_full_cause_ergonomics": [
    "Full collections by resizing of the heap",
    "堆大小调整引起的完整回收",
  ],
  "jvm.runtime/gc_full_cause_metadata": ["Full collections by metadata", "元数据引起的完整回收"],
  "jvm.runtime/gc_full_cause_diagnostic": [
    "Full collections by a diagnostic command",
    "诊断命令引起的完整回收",
  ],
  "jvm.runtime/gc_full_cause_heap_dump": ["Full collections by a heap dump", "堆转储引起的完整回收"],
  "jvm.runtime/gc_full_cause_other": ["Full collections by another cause", "其他原因引起的完整回收"],
  "jvm.runtime/gc_full_cause_unknown": ["Full collections of unknown cause", "原因不明的完整回收"],
  "jvm.runtime/safepoint_ns": ["Time at safepoints", "安全点停顿时间"],
  "jvm.runtime/contended_locks": ["Locks contended", "锁争用次数"],
  "php.fpm/active": ["FPM processes at work", "工作中的 FPM 进程"],
  "php.fpm/idle": ["FPM processes idle", "空闲的 FPM 进程"],
  "php.fpm/listen_queue": ["Connections waiting for an FPM process", "等待 FPM 进程的连接"],
  "php.fpm/max_children_reached": ["Times all FPM processes were taken", "FPM 进程用尽的次数"],
  "php.opcache/hit_percent": ["OPcache hits", "OPcache 命中率"],
  "nginx.status/active": ["nginx connections", "nginx 连接数"],
  "swoole.server/coroutines": ["Coroutines", "协程数"],
  "go.pool/pool_in_use": ["Database connections in use", "使用中的数据库连接"],
  "go.pool/pool_wait_ns": ["Time waited for a database connection", "等待数据库连接的时间"],
  "node.pool/pool_in_use": ["Database connections in use", "使用中的数据库连接"],
  "node.pool/pool_waiting": ["Requests waiting for a database connection", "等待数据库连接的请求"],

  // The generator
  "generator.process/cpu_ns": ["CPU time of the generator", "发生器的 CPU 时间"],
  "generator.process/run_delay_ns": [
    "Run delay of the generator: waiting for a CPU",
    "发生器的运行延迟：等待 CPU",
  ],
  "generator.process/rss_bytes": ["Resident memory of the generator", "发生器的常驻内存"],
  "generator.process/fds": ["Open descriptors of the generator", "发生器打开的描述符"],
  "generator.process/threads": ["Threads of the generator", "发生器的线程数"],
  "generator.process/busiest_thread_percent": ["Busiest thread of the generator", "发生器最忙的线程"],
  "generator.process/voluntary_switches": [
    "Context switches of the generator, waiting",
    "发生器的上下文切换，主动等待",
  ],
  "generator.process/involuntary_switches": [
    "Context switches of the generator, CPU taken away",
    "发生器的上下文切换，CPU 被夺走",
  ],
  "generator.process/minor_faults": ["Page faults of the generator", "发生器的缺页"],
  "generator.process/major_faults": [
    "Page faults of the generator that waited for a disk",
    "发生器等待磁盘的缺页",
  ],
  "generator.cgroup/cpu_ns": ["CPU time of the generator's group", "发生器所在控制组的 CPU 时间"],
  "generator.cgroup/memory_bytes": ["Memory of the generator's group", "发生器所在控制组的内存"],
  "generator.cgroup/throttled_ns": ["Time the generator was throttled", "发生器被限流的时间"],
  "prony.collector/cpu_ns": ["CPU time of reading these counters", "读取这些计数器的 CPU 时间"],

  // The host
  "host.stat/user_ns": ["CPU time of the host in programs", "主机的用户态 CPU 时间"],
  "host.stat/system_ns": ["CPU time of the host in the kernel", "主机的内核态 CPU 时间"],
  "host.stat/idle_ns": ["Idle CPU time", "空闲的 CPU 时间"],
  "host.stat/iowait_ns": ["CPU time idle, waiting for a disk", "等待磁盘的空闲 CPU 时间"],
  "host.stat/irq_ns": ["CPU time in interrupts", "中断的 CPU 时间"],
  "host.stat/softirq_ns": ["CPU time in soft interrupts", "软中断的 CPU 时间"],
  "host.stat/steal_ns": ["Stolen CPU time", "被抢占的 CPU 时间"],
  "host.stat/ctxt": ["Context switches of the host", "主机的上下文切换"],
  "host.stat/processes": ["Processes and threads made", "新建的进程与线程"],
  "host.stat/procs_running": ["Tasks that run or could run", "运行或可运行的任务"],
  "host.stat/procs_blocked": ["Tasks that wait for a disk", "等待磁盘的任务"],
  "host.cpus/busiest_percent": ["Busiest CPU", "最忙的 CPU"],
  "host.load/load_1m": ["Load of the host, 1 min", "主机负载，1 分钟"],
  "host.load/tasks_runnable": ["Tasks that could run", "可运行的任务"],
  "host.pressure/cpu_some_ns": ["Time in which some task waited for a CPU", "有任务等待 CPU 的时间"],
  "host.pressure/memory_some_ns": ["Time in which some task waited for memory", "有任务等待内存的时间"],
  "host.pressure/io_some_ns": ["Time in which some task waited for a disk", "有任务等待磁盘的时间"],
  "host.memory/available_bytes": ["Memory available", "可用内存"],
  "host.memory/swap_in_pages": ["Pages read from swap", "从交换区读入的页"],
  "host.memory/swap_out_pages": ["Pages written to swap", "写入交换区的页"],
  "host.memory/oom_kills": ["Processes killed for want of memory", "因内存不足被终止的进程"],
  "host.clock/frequency_mean_hz": ["CPU frequency, mean", "CPU 频率，平均"],
  "host.clock/temperature_max_celsius": ["Temperature, hottest zone", "温度，最热处"],
  "host.clock/thermal_throttles": ["CPUs slowed down by heat", "CPU 因过热降速的次数"],
  "host.disk/busy_ns": ["Time the busiest disk was busy", "最忙的磁盘的忙碌时间"],
  "host.disk/read_bytes": ["Read from disks", "从磁盘读取"],
  "host.disk/written_bytes": ["Written to disks", "向磁盘写入"],
  "host.disk/in_flight": ["Disk requests under way", "进行中的磁盘请求"],
  "host.net/rx_bytes": ["Received by the network", "网络接收"],
  "host.net/tx_bytes": ["Sent by the network", "网络发送"],
  "host.net/rx_drops": ["Packets dropped on reception", "接收时丢弃的数据包"],
  "host.net/tx_drops": ["Packets dropped on sending", "发送时丢弃的数据包"],
  "host.net/lo_tx_bytes": ["Sent over loopback", "经环回发送"],
  "host.net/lo_tx_packets": ["Packets sent over loopback", "经环回发送的数据包"],
  "tcp.snmp/RetransSegs": ["TCP segments sent again", "重传的 TCP 报文段"],
  "tcp.snmp/ActiveOpens": ["TCP connections begun", "主动建立的 TCP 连接"],
  "tcp.snmp/PassiveOpens": ["TCP connections accepted", "被动建立的 TCP 连接"],
  "tcp.snmp/AttemptFails": ["TCP connections that failed", "建立失败的 TCP 连接"],
  "tcp.snmp/EstabResets": ["TCP connections reset", "被重置的 TCP 连接"],
  "tcp.netstat/ListenOverflows": ["Accept queue overflows", "接收队列溢出"],
  "tcp.netstat/ListenDrops": ["Connections dropped at a listener", "监听套接字丢弃的连接"],
  "tcp.netstat/TCPTimeouts": ["TCP retransmission timeouts", "TCP 重传超时"],
  "tcp.states/established": ["TCP connections open", "打开的 TCP 连接"],
  "tcp.states/time_wait": ["TCP sockets in TIME_WAIT", "处于 TIME_WAIT 的 TCP 套接字"],
  "tcp.states/close_wait": ["TCP sockets in CLOSE_WAIT", "处于 CLOSE_WAIT 的 TCP 套接字"],
};

/** Of services, whose sources have their own names in the middle: `service.db.process/cpu_ns`. */
const OF_SERVICES: Record<string, Name> = {
  "process/cpu_ns": ["CPU time", "CPU 时间"],
  "process/run_delay_ns": ["run delay: waiting for a CPU", "运行延迟：等待 CPU"],
  "process/rss_bytes": ["resident memory", "常驻内存"],
  "process/fds": ["open descriptors", "打开的描述符"],
  "cgroup/cpu_ns": ["CPU time of its group", "所在控制组的 CPU 时间"],
  "cgroup/throttled_ns": ["time throttled by its CPU quota", "因 CPU 配额被限流的时间"],
  "db/connections": ["connections", "连接数"],
  "db/running": ["statements that run", "正在执行的语句"],
  "db/lock_waiting": ["statements that wait for a lock", "等待锁的语句"],
  "db/slowest_ns": ["longest statement so far", "当前最久的语句"],
  "db/transactions": ["transactions", "事务数"],
  "db/statements": ["statements", "语句数"],
  "redis/clients": ["clients", "客户端数"],
  "redis/memory_bytes": ["memory", "内存"],
  "redis/commands": ["commands", "命令数"],
  "redis/evicted": ["keys evicted", "被淘汰的键"],
};

/** Of the services that the target asked, whose addresses stand at the end: `target.outgoing/waiting@10.0.0.7:3306`. */
const OF_PEERS: Record<string, Name> = {
  connections: ["connections", "连接数"],
  waiting: ["connections that wait for its answer", "等待其应答的连接"],
  active: ["connections in use", "使用中的连接"],
  sent: ["segments sent to it", "发给它的报文段"],
};

/** The counters with a name of their own. */
export const COUNTER_KEYS: readonly string[] = Object.keys(NAMES);

const own = (names: Record<string, Name>, key: string): Name | undefined =>
  Object.hasOwn(names, key) ? names[key] : undefined;

/** The name of a counter by its key; nothing where it has none. */
export function counterName(key: string, lang: "en" | "zh"): string | undefined {
  const at = lang === "en" ? 0 : 1;
  const peer = /^target\.outgoing\/([a-z]+)@(.+)$/.exec(key);
  if (peer) return among(OF_PEERS, peer[2] ?? "", peer[1] ?? "", lang);
  const service = /^service\.(.+)\.([a-z]+\/[a-z_]+)$/.exec(key);
  if (!service) return own(NAMES, key)?.[at];
  const [, name = "", what = ""] = service;
  return among(OF_SERVICES, name, what, lang);
}

/** What is counted of somebody, with the name before it. */
function among(
  names: Record<string, Name>,
  name: string,
  what: string,
  lang: "en" | "zh",
): string | undefined {
  const found = own(names, what)?.[lang === "en" ? 0 : 1];
  return found && `${name}${lang === "en" ? ": " : "："}${found}`;
}

/** Whether a rate of nanoseconds per second is a number of CPUs. */
export const isCpuTime = (key: string): boolean =>
  /(^|[/_])cpu_ns$/.test(key) ||
  /\.process\/(user|system)_ns$/.test(key) ||
  /^host\.stat\/[a-z]+_ns$/.test(key);
