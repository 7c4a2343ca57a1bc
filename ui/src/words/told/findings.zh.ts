/** What held a target back, what was ruled out, what was not read: `analyze/src/run/why`. */
import type { Entry } from "./engine";

export const findingsZh: readonly Entry[] = [
  ["consistent with {cause}: {any}", "与{cause}相符：{any}"],
  ["because of {cause}: {any}", "因为{cause}：{any}"],
  ["nothing was found that holds it back: {any}", "未发现拖累它的因素：{any}"],
  ["{count} looked at and ruled out, {n} could not be read", "查看并排除了 {count}，{n} 项无法读取"],
  [
    "no trial of this cell has been loaded, so nothing can be said",
    "该单元没有一个试次加过负载，因此无从判断",
  ],
  ["{text}; so also in {count}", "{text}；另有 {count}也是如此"],
  ["{key} was not read in these trials", "这些试次没有读取 {key}"],

  // Accept queue.
  [
    "the kernel dropped {q} connections at full queues; the slowest connection took {q2}",
    "内核因队列已满丢弃了 {q} 个连接；最慢的一次连接用时 {q2}",
  ],
  [
    "its queue of connections to be accepted was full ({q} of {q2}): the kernel turned {q3} away, and the slowest connection took {q4}",
    "它的待接收连接队列已满（{q}/{q2}）：内核拒绝了 {q3} 个连接，最慢的一次连接用时 {q4}",
  ],
  [
    "raise its backlog and net.core.somaxconn, or accept faster (more acceptors, less work before accept)",
    "调大它的 backlog 和 net.core.somaxconn，或加快接收（更多接收线程，accept 之前少做事）",
  ],
  ["connections turned away, whole host", "被拒绝的连接（整机）"],
  ["queue of the target", "目标的队列"],
  ["{q} of {q2}", "{q}/{q2}"],
  ["slowest connection", "最慢的连接"],
  ["connections that timed out", "超时的连接"],

  // Garbage collection and allocation.
  ["its runtime does not tell what its garbage collection costs", "它的运行时没有提供垃圾回收的开销"],
  ["garbage collection took {q} of its CPU time", "垃圾回收占其 CPU 时间的 {q}"],
  [
    "garbage collection took {q} of its CPU time¦; it allocates {q2} for each request",
    "垃圾回收占其 CPU 时间的 {q}；它每个请求分配 {q2}",
  ],
  [
    "allocate less for each request (an allocation profile shows where), use buffers again, or collect less often (gogc)",
    "减少每个请求的分配（分配剖析会显示在哪里），复用缓冲区，或降低回收频率（gogc）",
  ],
  ["CPU time of garbage collection", "垃圾回收的 CPU 时间"],
  ["collections per second", "每秒回收次数"],
  ["gogc from {q} to {q2}", "gogc 从 {q} 改为 {q2}"],
  [
    "its runtime does not tell of pauses: name its endpoint under [metrics] of target.toml",
    "它的运行时没有提供停顿时间：请在 target.toml 的 [metrics] 下写明它的端点",
  ],
  [
    "pauses took {q} of the time, {q2} at most, against a p99 of {q3}",
    "停顿占时间的 {q}，最长 {q2}，而 p99 为 {q3}",
  ],
  [
    "collections stopped it for {q} of the time, for up to {q2}, against a p99 response time of {q3}",
    "垃圾回收使它停顿了 {q} 的时间，最长一次 {q2}，而 p99 响应时间为 {q3}",
  ],
  [
    "allocate less, keep less alive, or collect less often (gogc, heap size); a heap profile shows who allocates",
    "减少分配，减少存活对象，或降低回收频率（gogc、堆大小）；堆剖析会显示是谁在分配",
  ],
  ["time in pauses", "停顿时间"],
  ["longest pause, of p99", "最长停顿，相对 p99"],
  ["a larger heap, so that it collects less often", "加大堆，使回收不那么频繁"],

  // Network.
  ["there are no intervals", "没有逐段数据"],
  ["{q} within this host, whose devices have no speed", "{q}，走本机内部，没有链路速率可言"],
  ["{q}, but the speed of the path is not known", "{q}，但不知道链路的速率"],
  ["{q} per second, {q2} of the path's speed", "每秒 {q}，为链路速率的 {q2}"],
  [
    "{q} per second moved in one direction, {q2} of the speed of the path",
    "单方向每秒 {q}，为链路速率的 {q2}",
  ],
  [
    "send less (compression, smaller answers), or use a faster path",
    "少发送数据（压缩、更小的应答），或使用更快的链路",
  ],
  ["bytes per second, of the speed", "每秒字节数，相对链路速率"],
  ["twice the speed of the isolated network", "把隔离网络的速率加倍"],
  [
    "{q} of the host's packets were sent again, {q2} on the connections of the load",
    "主机重传了 {q} 的数据包，其中负载的连接上 {q2} 个",
  ],
  [
    "{q} of the host's packets were sent again, ¦an unknown number¦ on the connections of the load",
    "主机重传了 {q} 的数据包，其中负载的连接上有多少不得而知",
  ],
  [
    "{q} packets were sent again on the connections of the load, {q2} of all packets of the host; {q3} of the answers came around a retransmission timeout",
    "负载的连接上重传了 {q} 个数据包，主机全部数据包的重传率为 {q2}；{q3} 的应答落在重传超时附近",
  ],
  [
    "look at the path (errors and drops of devices, queues, policers), and at congestion control",
    "检查链路（设备的错误与丢包、队列、限速器）和拥塞控制",
  ],
  ["packets sent again, whole host", "重传的数据包（整机）"],
  ["sent again on the load's connections", "负载连接上的重传"],
  ["answers near a timeout of 200 or 400 ms", "落在 200 或 400 ms 超时附近的应答"],
  ["no loss of packets", "不丢包"],
  [
    "{q} of the answers took about 40 ms, and not between their parts",
    "{q} 的应答用时约 40 ms，且不在其各部分之间",
  ],
  [
    "answers came in parts with {q} between them, {q2} of all answers: the target waits for an acknowledgement before it sends the rest",
    "应答分成几段到达，段间相隔 {q}，占全部应答的 {q2}：目标要等到确认才发送其余部分",
  ],
  [
    "have the target send head and body in one piece, or set TCP_NODELAY on its connections",
    "让目标把头和正文一次发出，或在连接上设置 TCP_NODELAY",
  ],
  ["first byte to last byte", "首字节到末字节"],
  ["36 ms to 50 ms", "36 ms 至 50 ms"],
  ["answers of that length", "这种时长的应答"],
  ["TCP_NODELAY in the target", "在目标中设置 TCP_NODELAY"],

  // Cache and database.
  [
    "its commands took {q} for each request, {q2} of the response time",
    "它的命令每个请求用时 {q}，占响应时间的 {q2}",
  ],
  [
    "the cache spent {q} on each request ({q2} of the response time), was busy for {q3} of the time and had {q4} of what it was asked for",
    "缓存为每个请求花费 {q}（占响应时间的 {q2}），有 {q3} 的时间在忙，命中率 {q4}",
  ],
  [
    "look for slow commands (SLOWLOG GET, commandstats), fetch less, give it more memory, or use several",
    "查找慢命令（SLOWLOG GET、commandstats），少取数据，给它更多内存，或使用多个实例",
  ],
  ["time of its commands, of the response time", "命令用时，相对响应时间"],
  [
    "{name} was busy for {q} of the CPU that it can have, with {q2} statements running, {q3} of them waiting for locks, on {q4} of its connections",
    "{name} 用掉了可用 CPU 的 {q}，有 {q2} 条语句在执行，其中 {q3} 条在等锁，连接占用 {q4}",
  ],
  [
    "look at its statements (indexes, fewer and smaller queries, a cache), or give it more CPU",
    "检查它的语句（索引、更少更小的查询、缓存），或给它更多 CPU",
  ],
  ["CPU of what it can have", "已用 CPU，相对可用"],
  ["connections taken", "已占用的连接"],
  ["running statements that wait for locks", "正在执行而在等锁的语句"],
  ["{name} used {q} of its CPU and {q2} of its connections", "{name} 用了其 CPU 的 {q}、连接的 {q2}"],

  // The clock and the machine.
  ["the canary", "固定工作量"],
  ["fixed work took within {q} of the same time before and after", "固定工作量在前后的用时相差不超过 {q}"],
  [
    "fixed work took up to {q} longer or shorter after the load than before, in {n} of {n2} trials: the clock of the CPU, or what else runs on it, changed",
    "{n2} 个试次中有 {n} 个，固定工作量在负载前后的用时最多相差 {q}：CPU 的频率或其上运行的其他程序变了",
  ],
  [
    "set the CPU's governor to performance and turn its boost off (`--tune --turbo-off`)",
    "把 CPU 的调频策略设为 performance，并关闭睿频（`--tune --turbo-off`）",
  ],
  ["largest drift of the canary", "固定工作量的最大漂移"],
  ["fixed work took the same time in all trials", "固定工作量在所有试次中用时相同"],
  ["trials on a slower machine had the same throughput", "在较慢机器上的试次吞吐量相同"],
  [
    "{ids} ran on a slower machine, with {q} less throughput than the others",
    "{ids} 在较慢的机器上运行，吞吐量比其他试次低 {q}",
  ],
  [
    "run all trials on one machine with a fixed clock (`--tune --turbo-off`), or treat the machine as a factor",
    "在一台固定频率的机器上运行全部试次（`--tune --turbo-off`），或把机器作为一个因素",
  ],
  ["throughput lost in them", "其中损失的吞吐量"],
  ["{q} of the host's CPU time was stolen, below {q2}", "主机 CPU 时间被抢占 {q}，低于 {q2}"],
  [
    "the hypervisor gave {q} of the host's CPU time to others",
    "虚拟机监控程序把主机 {q} 的 CPU 时间给了别人",
  ],
  [
    "measure on a machine of its own, or when its neighbours are quiet",
    "在独占的机器上测量，或在邻居安静时测量",
  ],
  ["stolen CPU time", "被抢占的 CPU 时间"],

  // Warmth, connections.
  ["the samples are too short to see a trend", "采样太短，看不出趋势"],
  ["its median response time changed by {q} over the samples", "响应时间中位数在采样期间变化 {q}"],
  [
    "its median response time fell by {q} from the first to the last third of the samples: it was not warm",
    "响应时间中位数从采样的前三分之一到后三分之一下降了 {q}：它尚未热透",
  ],
  ["fall of the median within the samples", "采样期间中位数的降幅"],
  ["trials that were still warming up", "仍在预热的试次"],
  ["there are no answers to hold connections against", "没有应答可与连接数对照"],
  ["a connection served {q} requests", "每个连接处理了 {q} 个请求"],
  [
    "a new connection was made for {q} of the requests, {q2} each¦, as the load asks",
    "{q} 的请求新建了连接，每次 {q2}，这是负载所要求的",
  ],
  [
    "a new connection was made for {q} of the requests, {q2} each¦: the target closes them",
    "{q} 的请求新建了连接，每次 {q2}：连接被目标关闭",
  ],
  [
    "turn keep-alive on in the target, or make its idle time longer than the pauses between requests",
    "在目标中启用 keep-alive，或让它的空闲时限长于请求间的停顿",
  ],
  ["reconnects over requests", "重连数与请求数之比"],
  ["time to connect", "建立连接的用时"],
  ["connections that are kept alive", "保持连接（keep-alive）"],
  ["keepalive from false to true", "keepalive 从 false 改为 true"],

  // CPU.
  ["it used {q} of {whose}", "它用了{whose}的 {q}"],
  [
    "it used {q} of {whose} ({q2}){in_kernel?}{a_request?}",
    "它用了{whose}（{q2}）的 {q}{in_kernel?}{a_request?}",
  ],
  [
    "one of its threads used {q} of a core while it used {q2} of {whose} in all{in_kernel?}{a_request?}",
    "它的一个线程用了一个核的 {q}，而它总共用了{whose}的 {q2}{in_kernel?}{a_request?}",
  ],
  [
    "share the work of that thread among several, or make it cheaper: a profile shows what it does (`prony profile`)",
    "把该线程的工作分给多个线程，或降低其开销：剖析会显示它在做什么（`prony profile`）",
  ],
  [
    "make a request cheaper (`prony profile` shows what the time goes to), or give the target more CPUs",
    "降低每个请求的开销（`prony profile` 显示时间花在哪里），或给目标更多 CPU",
  ],
  ["CPU used of what it can have", "已用 CPU，相对可用"],
  ["busiest thread, of a core", "最忙的线程，相对一个核"],
  ["the CPU time of a request from {q} to {q2}", "每个请求的 CPU 时间从 {q} 改为 {q2}"],
  ["the CPU quota from {q} to {q2}", "CPU 配额从 {q} 改为 {q2}"],
  ["give it twice the CPUs, with `pin` or on a larger machine", "用 `pin` 或更大的机器给它两倍的 CPU"],
  ["give it twice the CPUs", "给它两倍的 CPU"],
  [
    "its threads waited {q} for a core for each request, {q2} of the time for which they wanted one",
    "每个请求中它的线程等待 CPU 核 {q}，占其需要 CPU 核的时间的 {q2}",
  ],
  ["run delay for each request, of the median", "每个请求等待 CPU 核的时间，相对中位数"],
  ["waiting for a core, of CPU time and waiting", "等待 CPU 核，相对 CPU 时间与等待之和"],
  ["the CPUs that it runs on were busy for {q} of the time", "它所在的 CPU 有 {q} 的时间在忙"],
  [
    "the CPUs that it runs on were full, but it used only {q} of them and waited for {q2} of the time for which it wanted one",
    "它所在的 CPU 已满，但它只用了其中的 {q}，且只在需要 CPU 的时间里等待了 {q2}",
  ],
  [
    "the CPUs that it runs on were full: {q} itself, {q2} its services, {q3} prony, {q4} others; its threads waited for {q5} of the time for which they wanted a core",
    "它所在的 CPU 已满：自身 {q}，其服务 {q2}，prony {q3}，其他进程 {q4}；它的线程在需要 CPU 核的时间里有 {q5} 在等待",
  ],
  [
    "give the target CPUs that nobody else uses (`pin`, isolcpus), end what runs beside it, or make a request cheaper (`prony profile`)",
    "给目标独占的 CPU（`pin`、isolcpus），结束旁边运行的程序，或降低每个请求的开销（`prony profile`）",
  ],
  ["busy share of its CPUs", "其 CPU 的繁忙占比"],
  ["give it CPUs of its own", "给它独占的 CPU"],
  [
    "run fewer threads or worker processes than CPUs, or give the target more CPUs",
    "让线程或工作进程少于 CPU 数，或给目标更多 CPU",
  ],
  ["threads", "线程"],
  ["goroutines", "goroutine"],
  [
    "the target has no CPUs of its own, so others cannot be told from it",
    "目标没有独占的 CPU，无法与其他进程区分",
  ],
  ["others used at most {q} of the target's CPUs", "其他进程最多占用目标 CPU 的 {q}"],
  ["other processes used {q} of the CPUs that are the target's", "其他进程占用了目标 CPU 的 {q}"],
  [
    "end them, or give the target CPUs that nobody else uses (`pin`, isolcpus)",
    "结束它们，或给目标别人不用的 CPU（`pin`、isolcpus）",
  ],
  ["busy with others", "被其他进程占用"],
  ["it has no CPU quota", "它没有 CPU 配额"],
  ["its control group does not tell of periods", "它的控制组没有提供周期数"],
  ["its quota stopped it in {q} of its periods", "配额在 {q} 的周期里使它停住"],
  ["{stopped}, as the experiment asks", "{stopped}，这是实验所要求的"],
  [
    "{stopped}: its throughput and its latency (a stop lasts up to a period of 100 ms) are consistent with the quota and say little of the target",
    "{stopped}：它的吞吐量和延迟（一次停住最长一个 100 ms 的周期）与配额相符，不能说明目标本身",
  ],
  [
    "raise limits.cpus and see whether they change, or vary it: cpus = [0.5, 1]",
    "提高 limits.cpus 看它们是否变化，或把它作为因素：cpus = [0.5, 1]",
  ],
  ["periods in which it was stopped", "被停住的周期"],
  [
    "answers after about one or two periods (70 to 110 ms, 170 to 210 ms)",
    "约一两个周期后才到的应答（70 至 110 ms、170 至 210 ms）",
  ],
  ["the CPU of its workers differs by {q} of their mean", "各工作进程的 CPU 相差均值的 {q}"],
  [
    "the CPU of its worker processes differs by {q} of their mean; the busiest thread used {q2} of a core while it used {q3} of its CPUs in all",
    "各工作进程的 CPU 相差均值的 {q}；最忙的线程用了一个核的 {q2}，而它总共用了其 CPU 的 {q3}",
  ],
  [
    "share connections out evenly: one acceptor that hands over, more connections than workers, or EPOLLEXCLUSIVE with shared sockets",
    "均匀分配连接：由一个接收者分派，连接数多于工作进程数，或共享套接字时用 EPOLLEXCLUSIVE",
  ],
  ["coefficient of variation over workers", "各工作进程之间的变异系数"],
  [
    "{q} of {q2} workers were busy, {q3} requests waited",
    "{q2} 个工作进程中有 {q} 个在忙，{q3} 个请求在等待",
  ],
  [
    "all {q} workers were busy and {q2} requests waited for one, while it used {q3} of its CPU",
    "全部 {q} 个工作进程都在忙，{q2} 个请求在等待，而它只用了其 CPU 的 {q3}",
  ],
  [
    "start more workers (pm.max_children), or have each request need less time",
    "增加工作进程（pm.max_children），或缩短每个请求的用时",
  ],
  ["busy workers", "忙碌的工作进程"],
  ["requests that wait for a worker", "等待工作进程的请求"],
  ["{key} from {q} to {q2}", "{key} 从 {q} 改为 {q2}"],

  // Event loop.
  [
    "its event loop was late by {q} at most in 99 of 100 turns",
    "它的事件循环在 100 轮中有 99 轮最多迟到 {q}",
  ],
  [
    "its event loop was held up for {q} in one of 100 turns, {q2} of p99, and was busy for {q3} of the time",
    "它的事件循环每 100 轮有一轮被阻塞 {q}，为 p99 的 {q2}，有 {q3} 的时间在忙",
  ],
  [
    "take long computations off the loop (worker threads, smaller pieces); `prony profile --kind node` shows which",
    "把长时间的计算移出循环（工作线程，或切成小块）；`prony profile --kind node` 会显示是哪些",
  ],
  ["delay of the loop, p99", "循环的延迟（p99）"],
  ["utilisation of the loop", "循环的利用率"],
  ["move the computation to a worker thread", "把计算移到工作线程"],

  // Locks and pools.
  [
    "a JVM tells how often its threads parked at monitors, {n} times for each request, but not how long; its flight recorder does (`prony profile --kind jfr`)",
    "JVM 只给出线程在监视器上停顿的次数（每个请求 {n} 次），不给出时长；飞行记录器会给出（`prony profile --kind jfr`）",
  ],
  [
    "its runtime does not tell of waits at locks; off-CPU time by bpftrace would (`prony profile --kind off-cpu`)",
    "它的运行时没有提供等锁时间；可用 bpftrace 看 off-CPU 时间（`prony profile --kind off-cpu`）",
  ],
  [
    "its threads waited {q} at locks for each request, {q2} of the response time",
    "它的线程每个请求等锁 {q}，占响应时间的 {q2}",
  ],
  [
    "its threads waited {q} at locks for each request, {q2} of the response time, while it used {q3} of its CPU",
    "它的线程每个请求等锁 {q}，占响应时间的 {q2}，而它只用了其 CPU 的 {q3}",
  ],
  [
    "hold the lock for less time, or give each thread its own part; a mutex profile shows which one (`prony profile --kind mutex`)",
    "缩短持锁时间，或让每个线程各有一份；互斥锁剖析会显示是哪把锁（`prony profile --kind mutex`）",
  ],
  ["wait at locks, of the response time", "等锁时间，相对响应时间"],
  ["hold the lock for half the time", "把持锁时间减半"],
  ["the target does not tell of its pools", "目标没有提供连接池的情况"],
  ["{key} was not read", "没有读取 {key}"],
  ["requests waited {q} for its pool, {q2} of the response time", "请求等待连接池 {q}，占响应时间的 {q2}"],
  [
    "requests waited {q} for a connection of its pool{of_size?}, {q2} of the response time, while it used {q3} of its CPU",
    "请求等待连接池的连接{of_size?} {q}，占响应时间的 {q2}，而它只用了其 CPU 的 {q3}",
  ],
  [
    "make the pool larger, or hold its connections for less time; look at the database too",
    "加大连接池，或缩短占用连接的时间；同时检查数据库",
  ],
  ["wait for the pool, of the response time", "等待连接池，相对响应时间"],
  ["in use on average", "平均占用"],
  ["a pool four times as large", "把连接池加大到四倍"],

  // Memory.
  ["its resident memory changed by {q} over a trial", "它的常驻内存在一个试次内变化 {q}"],
  [
    "its resident memory grew by {q} ({q2}) within a trial, in every trial, about {q3} for each request",
    "它的常驻内存在每个试次内都增长 {q}（{q2}），约合每个请求 {q3}",
  ],
  [
    "run `prony soak` on this cell: it tells a leak from a cache that fills",
    "对该单元运行 `prony soak`：它能区分泄漏和逐渐填满的缓存",
  ],
  ["resident memory at the end", "结束时的常驻内存"],
  ["{q} more than at the beginning", "比开始时多 {q}"],
  ["what each request leaves behind from {key} to nothing", "每个请求的残留从 {key} 减为零"],
  ["it has no memory limit", "它没有内存上限"],
  ["it used at most {q} of its limit of {q2}", "它最多用了上限 {q2} 的 {q}"],
  [
    "the kernel killed {q} of its processes at its limit of {q2}",
    "内核在内存达到上限 {q2} 时杀掉了它的 {q} 个进程",
  ],
  [
    "it stood at {q} of its limit of {q2} and read {q3} pages a second again that had been taken from it",
    "它处于上限 {q2} 的 {q}，每秒要重新读入 {q3} 个被回收的页",
  ],
  ["memory used of the limit", "已用内存，相对上限"],
  ["major faults per second", "每秒主缺页次数"],
  ["the memory limit from {q} to {q2}", "内存上限从 {q} 改为 {q2}"],
  ["{q} pages a second came back from swap", "每秒有 {q} 个页从交换区换回"],
  [
    "{q} pages a second came back from swap, and all tasks waited for memory for {q2} of the time",
    "每秒有 {q} 个页从交换区换回，全部任务有 {q2} 的时间在等内存",
  ],
  [
    "turn swap off (`swapoff -a`, `limits.swap = false`), or give the host or the target more memory",
    "关闭交换区（`swapoff -a`、`limits.swap = false`），或给主机或目标更多内存",
  ],
  ["pages swapped in per second", "每秒换入的页"],
  ["time stalled on memory", "因内存停滞的时间"],

  // Descriptors, threads, ports.
  ["its open descriptors changed by {q} over a trial", "它打开的描述符在一个试次内变化 {q}"],
  [
    "its open descriptors grew by {q} within a trial beyond its connections, in every trial: one in {q2} requests leaves one open",
    "除连接之外，它打开的描述符在每个试次内都增加 {q} 个：每 {q2} 个请求遗留一个",
  ],
  [
    "close what each request opens (`ls -l /proc/PID/fd` shows what they are); `prony soak` shows how far it goes",
    "关闭每个请求打开的描述符（`ls -l /proc/PID/fd` 会显示是什么）；`prony soak` 会显示会到什么地步",
  ],
  ["open descriptors at the end", "结束时打开的描述符"],
  ["of which connections of the load came", "其中由负载的连接带来"],
  [
    "{q} of the requests failed because prony's own limit of open descriptors was reached",
    "{q} 的请求因 prony 自身达到描述符上限而失败",
  ],
  [
    "raise it (`ulimit -n`), or use more generator processes",
    "提高该上限（`ulimit -n`），或使用更多发生器进程",
  ],
  ["failed for want of a descriptor", "因缺少描述符而失败"],
  ["it had at most {q} of {q2} descriptors open", "它最多打开了 {q2} 个描述符中的 {q} 个"],
  [
    "one of its processes stood at its limit of open descriptors: {q} of {q2}",
    "它的一个进程达到描述符上限：{q}/{q2}",
  ],
  [
    "raise the limit (`ulimit -n`, LimitNOFILE), or close what is not needed",
    "提高上限（`ulimit -n`、LimitNOFILE），或关闭不需要的描述符",
  ],
  ["open descriptors of the limit", "打开的描述符，相对上限"],
  ["failed requests", "失败的请求"],
  ["their number changed by {q} over a trial", "其数量在一个试次内变化 {q}"],
  [
    "its {growing} grew by {q} ({q2}) within a trial, in every trial",
    "它的{growing}在每个试次内都增加 {q}（{q2}）",
  ],
  [
    "find what starts them and never ends (a goroutine profile, a thread dump); `prony soak` shows how far it goes",
    "查明是什么启动了它们而不结束（goroutine 剖析、线程转储）；`prony soak` 会显示会到什么地步",
  ],
  ["{growing} at the end", "结束时的{growing}"],
  [
    "no connection failed for want of a port; {q} sockets in TIME_WAIT, {q2} of the ports",
    "没有连接因缺少端口而失败；{q} 个套接字处于 TIME_WAIT，占端口的 {q2}",
  ],
  [
    "no local port was left for new connections: {q} sockets in TIME_WAIT, {q2} of the ports, and {q3} of the requests failed",
    "没有本地端口可供新连接使用：{q} 个套接字处于 TIME_WAIT，占端口的 {q2}，{q3} 的请求失败",
  ],
  [
    "keep connections alive (pool them); else widen net.ipv4.ip_local_port_range, use several addresses, or set tcp_tw_reuse",
    "保持连接（使用连接池）；否则放宽 net.ipv4.ip_local_port_range，使用多个地址，或设置 tcp_tw_reuse",
  ],
  ["the load's own connections that failed for want of a port", "负载自身因缺少端口而失败的连接"],
  ["ports in TIME_WAIT", "处于 TIME_WAIT 的端口"],
  ["connections that serve more than one request", "让每个连接处理多个请求"],

  // Errors and the generator.
  ["{q} of the requests failed", "{q} 的请求失败"],
  ["{q} of the requests failed: {classes}{status?}", "{q} 的请求失败：{classes}{status?}"],
  [
    "read its log of these trials (trials/*/target.log), and the examples in trial.json",
    "查看它在这些试次中的日志（trials/*/target.log）和 trial.json 里的示例",
  ],
  [
    "its busiest worker was busy for {q} of the time, and the gates that watch it passed in most trials",
    "它最忙的工作线程有 {q} 的时间在忙，监视它的关卡在大多数试次中通过",
  ],
  [
    "prony could not make the load that was asked for in {n} of {n2} trials ({name}): these numbers are of the generator, not of the target",
    "{n2} 个试次中有 {n} 个，prony 没能产生所要求的负载（{name}）：这些数字是发生器的，不是目标的",
  ],
  [
    "prony's busiest worker was busy for {q} of the time while the target used {q2} of its CPU: the generator was the limit, or nearly so",
    "prony 最忙的工作线程有 {q} 的时间在忙，而目标只用了其 CPU 的 {q2}：发生器就是瓶颈，或接近瓶颈",
  ],
  [
    "give the generator more workers or CPUs (`load.workers`, `pin`), another machine, or ask for less",
    "给发生器更多工作线程或 CPU（`load.workers`、`pin`），换一台机器，或降低要求",
  ],
  ["busy share of the busiest worker", "最忙的工作线程的忙碌比例"],
  ["trials with a failed gate", "有关卡未通过的试次"],

  // Evidence in single words.
  ["hits", "命中"],
  ["kills", "强制终止"],
];

export const findingKindsZh: Record<string, readonly Entry[]> = {
  cause: [
    ["a saturated generator", "负载发生器饱和"],
    ["stolen CPU time", "CPU 时间被抢占"],
    ["a drifting CPU clock", "CPU 时钟漂移"],
    ["a full core", "CPU 核已满"],
    ["other processes on its CPUs", "其 CPU 上有其他进程"],
    ["throttling by the CPU quota", "CPU 配额限流"],
    ["a saturated CPU", "CPU 饱和"],
    ["threads that wait for a core", "线程等待 CPU 核"],
    ["its memory limit", "其内存上限"],
    ["swapping", "换页"],
    ["pauses of garbage collection", "垃圾回收停顿"],
    ["the CPU cost of garbage collection", "垃圾回收的 CPU 开销"],
    ["threads that only grow in number", "线程数只增不减"],
    ["memory that only grows", "内存只增不减"],
    ["waiting for a pool", "等待连接池"],
    ["a saturated database", "数据库饱和"],
    ["a slow cache", "缓存缓慢"],
    ["threads that wait at a lock", "线程等锁"],
    ["a blocked event loop", "事件循环阻塞"],
    ["too few workers", "工作进程太少"],
    ["a full accept queue", "接收队列已满"],
    ["local ports that ran out", "本地端口耗尽"],
    ["connections that are not kept", "连接没有保持"],
    ["lost packets", "丢包"],
    ["delayed acknowledgements", "延迟确认"],
    ["the speed of the network", "网络带宽"],
    ["the limit of open descriptors", "描述符上限"],
    ["descriptors that are never closed", "描述符从不关闭"],
    ["code that was not warm", "代码尚未热透"],
    ["uneven workers", "各工作进程负载不均"],
    ["trials on a slower machine", "试次在较慢的机器上运行"],
    ["failed requests", "请求失败"],
    ["a control that differs from itself", "隐藏对照与自身不同"],
  ],
  whose: [
    ["its CPU set", "其 CPU 集合"],
    ["the host's CPUs", "主机 CPU "],
    ["its CPU quota", "其 CPU 配额"],
  ],
  in_kernel: [[", {q} of it in the kernel", "，其中 {q} 在内核态"]],
  a_request: [["; {q} of CPU for each request", "；每个请求耗 CPU {q}"]],
  of_size: [[" of {q}", "（共 {q} 个）"]],
  stopped: [
    [
      "the quota of {limits} stopped {cell} in {q} of its periods, {q2} in a trial",
      "{cell}：{limits}的配额在 {q} 的周期里使它停住，每个试次合计 {q2}",
    ],
  ],
  growing: [
    ["goroutines", "goroutine 数"],
    ["threads", "线程数"],
  ],
  classes: [
    ["{q} {class}", "{q} {class}"],
    ["{q} {class}, {classes}", "{q} {class}、{classes}"],
  ],
  class: [["{key}", "{key}"]],
  status: [["; status {name}", "；状态码 {name}"]],
};
