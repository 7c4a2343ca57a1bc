/**
 * Why a load or a trial could not be: answers against the contract, connections, TLS, generator processes
 * (`launch/src/{contract,json_diff}`, `probe`, `engine/src/{generator,failure,tls/failure}`, `runner/src/{error,processes}`).
 */
import type { Entry } from "./engine";

export const failuresZh: readonly Entry[] = [
  // Answers that break the contract.
  ['contract "{name}": {any}', "约定“{name}”：{any}"],
  ["correct the scenario", "改正场景"],
  ["the request cannot be sent: {any}", "无法发送请求：{any}"],
  ["mend the target, or the expectation in the scenario file", "修好目标，或场景文件中的期望"],
  [
    "status {n}, expected {allowed}; the body begins with {raw}",
    "状态码 {n}，期望 {allowed}；正文开头为 {raw}",
  ],
  [
    "header {key}: expected a value that begins with {raw}, got ¦no such header",
    "响应头 {key}：期望以 {raw} 开头，但没有这个响应头",
  ],
  [
    "header {key}: expected a value that begins with {raw}, got {raw2}",
    "响应头 {key}：期望以 {raw} 开头，得到 {raw2}",
  ],
  ["the body {fault}", "正文{fault}"],

  // Endpoints of metrics.
  ["{key} answered {any}, not {any2}; {any3}", "{key} 的回答是 {any}，而不是 {any2}；{any3}"],

  // Connections.
  [
    "no connection to {key}: {any}; check that a server runs and listens there",
    "无法连接 {key}：{any}；检查那里是否有服务器在运行并监听",
  ],
  [
    "no connection could be opened: {any} ({n} tried); check that the target listens there",
    "一个连接也没有建立：{any}（尝试了 {n} 次）；检查目标是否在那里监听",
  ],
  [
    "no whole answer within {q}: timed out {stage}; the server hangs or is overloaded",
    "{q} 内没有完整的应答：{stage}超时；服务器挂起或过载",
  ],
  ["the connection was closed {stage}; look at the server's log", "连接{stage}被关闭；查看服务器的日志"],
  [
    "the connection failed {stage}: {any}; look at the server's log",
    "连接{stage}失败：{any}；查看服务器的日志",
  ],
  [
    "TLS failed {stage}: {any}; check the CA, the server name and the server's certificate",
    "TLS {stage}失败：{any}；检查 CA、服务器名和服务器证书",
  ],
  [
    "the answer is not well-formed HTTP/1.1: {any}; check the address and what serves there",
    "应答不是合法的 HTTP/1.1：{any}；检查地址和那里提供的服务",
  ],
  [
    "the answer is not well-formed HTTP/2: {any}; check the address and what serves there",
    "应答不是合法的 HTTP/2：{any}；检查地址和那里提供的服务",
  ],
  [
    "the server does not choose h2 in the TLS handshake (ALPN); switch HTTP/2 on there",
    "服务器在 TLS 握手（ALPN）中没有选择 h2；请在服务器端启用 HTTP/2",
  ],
  [
    "the server {raw} with {text}; look at the server's log",
    "服务器中止了请求（{raw}），代码 {text}；查看服务器的日志",
  ],
  ["grpc-status {raw}", "grpc-status {raw}"],
  [
    "the answer is not gRPC as it should be: {any}; check the address and what serves there",
    "应答不是合法的 gRPC：{any}；检查地址和那里提供的服务",
  ],
  [
    "grpc.health.v1 says that it does not serve; look at the server's log",
    "grpc.health.v1 表示它不提供服务；查看服务器的日志",
  ],
  ["a message of {n} bytes is too long", "{n} 字节的消息过长"],
  ["the message fails the check {raw}", "消息未通过检查 {raw}"],
  [
    "the body has transfer coding {key}, of which only chunked is read; switch it off there",
    "正文使用传输编码 {key}，只支持 chunked；请在服务器端关闭它",
  ],
  [
    "the answer has more than {n} bytes of body; serve less on this path",
    "应答正文超过 {n} 字节；减少该路径的内容",
  ],
  ["the answer has status {n}, not 200; check the path", "应答状态码为 {n} 而不是 200；检查路径"],

  // Redirects and proxies.
  ["{text}; its Location is {raw}", "{text}；其 Location 为 {raw}"],
  ["more than {n} redirects", "重定向超过 {n} 次"],
  ["redirects are followed within an origin; name it", "只在同一个源内跟随重定向；请指明源"],
  ["the proxy {key} answered {n} to CONNECT: {text}", "代理 {key} 对 CONNECT 回答 {n}：{text}"],
  ["the proxy {key} did not answer CONNECT in HTTP: {any}", "代理 {key} 对 CONNECT 的回答不是 HTTP：{any}"],
  ["the proxy {key} answered CONNECT with more than 16 KiB", "代理 {key} 对 CONNECT 的回答超过 16 KiB"],
  [
    "the proxy {key} closed the connection instead of answering CONNECT",
    "代理 {key} 没有回答 CONNECT 就关闭了连接",
  ],
  ["the proxy {key} did not answer CONNECT: {any}", "代理 {key} 没有回答 CONNECT：{any}"],
  [
    "it wants a user and a password; give http://USER:PASSWORD@HOST:PORT",
    "它需要用户名和密码；请写成 http://USER:PASSWORD@HOST:PORT",
  ],
  ["it makes no tunnels; name a proxy that takes CONNECT", "它不建立隧道；请使用支持 CONNECT 的代理"],
  ["it does not allow this target", "它不允许这个目标"],
  ["it could not reach the target", "它无法到达目标"],
  ["it opened no tunnel", "它没有建立隧道"],

  // The generator.
  ["there are fewer scripts than workers", "脚本少于工作线程"],
  ["the generator cannot {deed}: {any}", "发生器无法{deed}：{any}"],
  [
    "io_uring cannot be used here: {any}; use --driver auto or --driver epoll",
    "这里不能使用 io_uring：{any}；请用 `--driver auto` 或 `--driver epoll`",
  ],
  ["cannot enter the generator's network: {any}", "无法进入负载发生器的网络：{any}"],
  ["a worker died: {any}; please report this", "一个工作线程异常退出：{any}；请报告"],
  [
    "a worker was too late for the begin of the samples; the machine stalled: run the trial again",
    "一个工作线程没赶上采样开始；机器曾停滞：重新运行该试次",
  ],
  ["stopped before any was tried", "尚未尝试就已停止"],
  ["it ended without a word", "它没有任何说明就结束了"],
  ["it did not finish its set-up in time", "它没有及时完成准备"],
  ["it panicked", "它崩溃了"],
  ["a part of the workers that the load does not have", "负载没有的那部分工作线程"],
  [
    "each worker needs at least one connection: give more connections or fewer workers",
    "每个工作线程至少需要一个连接：增加连接或减少工作线程",
  ],
  ["a sample must last longer than zero", "采样时长必须大于零"],
  ["an open load needs a rate", "开环负载需要速率"],
  ["status {n}", "状态码 {n}"],

  // HTTP/2.
  ["the server refused the stream", "服务器拒绝了该流"],
  ["the server reset the stream", "服务器重置了该流"],
  ["the server reset the stream: RST_STREAM with {any}", "服务器重置了该流：RST_STREAM，{any}"],
  ["the server left without processing the request", "服务器未处理该请求就离开了"],
  [
    "the server left without processing the request: GOAWAY with {any}",
    "服务器未处理该请求就离开了：GOAWAY，{any}",
  ],
  ["the server left twice without processing the request (GOAWAY)", "服务器两次未处理该请求就离开（GOAWAY）"],
  ["the server broke the protocol", "服务器违反了协议"],
  ["the server asked for too much", "服务器要求过多"],

  // gRPC.
  ["the server says that the call was cancelled", "服务器称该调用已被取消"],
  ["the server failed for an unknown reason", "服务器因未知原因失败"],
  ["the server refuses the message of the call", "服务器拒绝了该调用的消息"],
  ["the deadline of the call passed", "该调用已超过截止时间"],
  ["the server did not find what the call is about", "服务器没有找到该调用所指的对象"],
  ["what the call was to make exists already", "该调用要创建的对象已存在"],
  ["the caller may not make this call", "调用方无权进行该调用"],
  ["a quota or a resource of the server is used up", "服务器的配额或资源已用尽"],
  ["the server is not in the state that the call needs", "服务器不处于该调用所需的状态"],
  ["the server gave the call up, because of a conflict for example", "服务器放弃了该调用，例如因为冲突"],
  ["the call goes beyond what there is", "该调用超出了有效范围"],
  ["the server does not have this method", "服务器没有这个方法"],
  ["something is broken in the server", "服务器内部出错"],
  ["the service cannot be reached at present", "服务目前不可用"],
  ["the server has lost data", "服务器丢失了数据"],
  ["the caller is not known to the server", "服务器不认识调用方"],
  ["all fixed requests exceed 4 GiB; send smaller bodies", "所有固定请求合计超过 4 GiB；请发送更小的正文"],

  // TLS.
  [
    "closed without close_notify: the answer may be cut short (RFC 9112 §9.8)",
    "未发 close_notify 就关闭：应答可能被截短（RFC 9112 §9.8）",
  ],
  [
    "closed during the TLS handshake; does the server speak TLS on this port?",
    "在 TLS 握手中关闭；服务器在该端口支持 TLS 吗？",
  ],
  [
    "the server chose by ALPN a protocol other than HTTP/1.1; offer --alpn http/1.1 only",
    "服务器经 ALPN 选了 HTTP/1.1 以外的协议；请只用 `--alpn http/1.1`",
  ],
  [
    "the server does not agree on HTTP/2 (ALPN h2); load it over HTTP/1.1 with --http 1.1",
    "服务器不同意使用 HTTP/2（ALPN h2）；请用 `--http 1.1` 经 HTTP/1.1 施加负载",
  ],
  ["the TLS session cannot send now", "TLS 会话现在不能发送"],
  ["the server showed no certificate", "服务器没有出示证书"],
  ["the server breaks the TLS protocol", "服务器违反 TLS 协议"],
  ["the server sent a handshake message out of turn", "服务器发送握手消息的次序不对"],
  [
    "what the server sent is not TLS; does it speak TLS on this port?",
    "服务器发来的不是 TLS；它在该端口支持 TLS 吗？",
  ],
  ["a record of the server cannot be decrypted", "无法解密服务器的一条记录"],
  ["the server sent a record larger than TLS allows", "服务器发送的记录超过 TLS 允许的大小"],
  ["the session's keys are used up", "会话密钥已用尽"],
  ["the system gave no time or no random bytes", "系统没有提供时间或随机字节"],
  ["the TLS session failed", "TLS 会话失败"],
  [
    "certificate expired; renew it, or use -k to accept any certificate",
    "证书已过期；请更新，或用 `-k` 接受任何证书",
  ],
  [
    "certificate not valid yet; check the clocks, or use -k to accept any certificate",
    "证书尚未生效；检查时钟，或用 `-k` 接受任何证书",
  ],
  [
    "certificate from an unknown issuer; give its CA with --cacert, or use -k to accept any certificate",
    "证书的颁发者未知；用 `--cacert` 给出其 CA，或用 `-k` 接受任何证书",
  ],
  [
    "certificate for another name; give the right one with --sni, or use -k to accept any certificate",
    "证书属于另一个名字；用 `--sni` 给出正确的名字，或用 `-k` 接受任何证书",
  ],
  ["certificate with a wrong signature", "证书签名错误"],
  [
    "certificate not meant for servers; use -k to accept any certificate",
    "证书不是服务器用途；用 `-k` 接受任何证书",
  ],
  ["certificate revoked", "证书已吊销"],
  ["certificate that cannot be read", "无法读取证书"],
  ["certificate refused; use -k to accept any certificate", "证书被拒绝；用 `-k` 接受任何证书"],
  [
    "the server speaks no TLS version that is allowed here; see --tls-versions",
    "服务器不支持这里允许的任何 TLS 版本；见 `--tls-versions`",
  ],
  ["no cipher suite in common; see --tls-ciphers", "没有共同的密码套件；见 `--tls-ciphers`"],
  ["no key-exchange group in common; see --tls-groups", "没有共同的密钥交换组；见 `--tls-groups`"],
  ["the server's TLS does not go together with the settings here", "服务器的 TLS 与这里的设置不兼容"],
  ["alert: {alert}", "警报：{alert}"],

  // Generator processes.
  ["every generator process is gone", "发生器进程已全部退出"],
  [
    "cannot start a generator process: {any}; use fewer connections, or raise the limit of processes",
    "无法启动发生器进程：{any}；减少连接，或提高进程数上限",
  ],
  [
    "generator process {n} ended in the middle of the load ({name}); the others were ended; if nobody killed it, look for a lack of memory (dmesg)",
    "发生器进程 {n} 在负载中途结束（{name}）；其余进程已被终止；如果没有人杀掉它，检查是否内存不足（`dmesg`）",
  ],
  [
    "generator process {n} has said nothing for {n2} s: it is stopped (state T in `ps`), or gets no CPU; the load was given up and its processes were ended",
    "发生器进程 {n} 已有 {n2} s 没有消息：它被停住（`ps` 中状态为 T），或得不到 CPU；已放弃该负载并终止其进程",
  ],
  ["generator process {n}: {any}", "发生器进程 {n}：{any}"],
  [
    "generator process {n} cannot be understood: {any}; please report this",
    "无法理解发生器进程 {n}：{any}；请报告",
  ],
  ["cannot learn how generator process {n} ended: {any}", "无法得知发生器进程 {n} 如何结束：{any}"],
  // Agents of a fleet.
  ["agent {name} cannot be reached: {any}", "无法连到代理 {name}：{any}"],
  ["start it, or correct its entry in the fleet", "启动它，或改正它在机群文件中的条目"],
  [
    "agent {name}: this host starts no further thread after those of {n} links ({any})",
    "代理 {name}：本机已为 {n} 条连接各开了一个线程，无法再创建新线程（{any}）",
  ],
  ["agent {name} refuses: {any}", "代理 {name} 拒绝：{any}"],
  [
    "agent {name} speaks version {n} of the words between agents, and this prony {n2}",
    "代理 {name} 使用的代理间协议版本是 {n}，本 prony 是 {n2}",
  ],
  [
    "the link to agent {name} was lost before it said that it ended",
    "与代理 {name} 的连接在它报告结束之前中断",
  ],
  ["look at it with `prony fleet list`", "用 `prony fleet list` 查看它"],
  ["use the same prony on both ends", "两端使用同一个 prony"],
  [
    "fewer agents, or raise vm.max_map_count (4 for each agent), kernel.threads-max and the limit of processes",
    "减少代理，或调高 vm.max_map_count（每个代理占 4 个映射）、kernel.threads-max 和进程数上限",
  ],
  [
    "agent {name} was lost in the middle of the load ({any}); the trial is void and the others were ended",
    "代理 {name} 在负载中途失联（{any}）；该试次作废，其余代理已被终止",
  ],
  [
    "nothing was heard of agent {name} for {n} s; the trial is void and the others were ended",
    "代理 {name} 已有 {n} s 没有消息；该试次作废，其余代理已被终止",
  ],
  ["agent {name} cannot be understood: {any}; please report this", "无法理解代理 {name}：{any}；请报告"],
  [
    "the results of agent {name} are not whole: {any}; the trial is void",
    "代理 {name} 的结果不完整：{any}；该试次作废",
  ],
  ["agent {name}: {any}", "代理 {name}：{any}"],
  ["{any} cannot be made by a fleet: {any2}", "{any}不能由机群完成：{any2}"],
  ["prony generator: {any}; it is used by prony itself", "prony generator：{any}；它由 prony 自己使用"],
  ["the orders are not understood ({any})", "无法理解指令（{any}）"],
  ["the orders have version {n}, not {n2}", "指令的版本是 {n}，不是 {n2}"],
  [
    "{n} workers cannot share {n2} connections; give each worker at least one connection",
    "{n} 个工作线程不能分摊 {n2} 个连接；每个工作线程至少给一个连接",
  ],
  [
    "{n} processes cannot share {n2} workers; give each process at least one worker",
    "{n} 个进程不能分摊 {n2} 个工作线程；每个进程至少给一个工作线程",
  ],
  [
    "{n} workers for {n2} connections are too few: a process may have {n3} connections here; give at least {n4} workers, or leave their number to prony",
    "{n2} 个连接用 {n} 个工作线程太少：这里每个进程最多 {n3} 个连接；至少给 {n4} 个工作线程，或由 prony 决定",
  ],

  // Files of a run.
  ["{name} is not readable as {name2}: {any}", "{name} 不能作为 {name2} 读取：{any}"],
  [
    "it was written by another version of prony, or damaged; run the experiment again",
    "它由另一版本的 prony 写成，或已损坏；重新运行实验",
  ],
  ["{name} is no run folder: it has no run.json", "{name} 不是运行目录：没有 run.json"],
  ["name a folder under runs/", "请指定 runs/ 下的目录"],
  ["run {name} has no trial {n} that ended", "运行 {name} 没有已结束的试次 {n}"],
  ["analysis.json lists those that did", "analysis.json 列出了已结束的"],
  ["{name} is a soak", "{name} 是长时间运行"],
  ["resume it with `prony soak --resume {name}`", "用 `prony soak --resume {name}` 续跑"],
  ["{name} decides by itself how many blocks it runs", "{name} 自行决定运行多少个区组"],
  [
    "resume it without --blocks, or run the experiment again with other `blocks`, `precision` or `budget`",
    "续跑时不带 --blocks，或用别的 `blocks`、`precision` 或 `budget` 重新运行实验",
  ],
  ["{name} is no soak", "{name} 不是长时间运行"],
  ["resume it with `prony run --resume {name}`", "用 `prony run --resume {name}` 续跑"],
  // What a failure of a request means, where its class alone is known (`engine/src/failure.rs`).
  ["the connection was refused", "连接被拒绝"],
  ["no connection was established within the connect time-out", "在连接超时之内未能建立连接"],
  ["the host or its network cannot be reached", "主机或其网络无法到达"],
  ["the connection was reset", "连接被重置"],
  ["no local address or port is left", "已没有可用的本地地址或端口"],
  ["no file descriptor is left", "已没有可用的文件描述符"],
  ["the name does not resolve", "名称无法解析"],
  ["the request could not be sent before its deadline", "请求未能在截止时间之前发出"],
  ["no complete answer came within the time-out", "在超时之内没有收到完整的应答"],
  ["the connection ended before the answer was complete", "应答尚未完整，连接就已结束"],
  ["the answer is not HTTP/1.1", "应答不是 HTTP/1.1"],
  ["the status is not an expected one", "状态码不在预期之内"],
  ["the body is not the expected one", "正文与预期不符"],
  ["the system refused to read or write", "系统拒绝读写"],
  ["a check of the answer failed", "应答未通过检查"],
  ["the script could not make the request", "脚本未能生成请求"],
  ["a redirect could not be followed", "重定向无法跟随"],
  ["the proxy did not open a tunnel", "代理未能建立隧道"],
  ["a period is longer than 1000 s", "采样周期超过 1000 秒"],
  ["run it by hand with PRONY_URL set, and mend it", "设置 PRONY_URL 后手动运行它，并加以修正"],
];

export const failureKindsZh: Record<string, readonly Entry[]> = {
  deed: [
    ["drive its sockets", "驱动套接字"],
    ["start a worker", "启动工作线程"],
    ["start the thread that resolves names", "启动解析名字的线程"],
  ],
  allowed: [
    ["{n} to {n2}", "{n} 至 {n2}"],
    ["at least {n}", "至少 {n}"],
    ["at most {n}", "至多 {n}"],
    ["{n}", "{n}"],
  ],
  fault: [
    [
      "fails the check {name}: there is nothing; it begins with {raw}",
      "未通过检查 {name}：那里什么也没有；正文开头为 {raw}",
    ],
    ["fails the check {name}: from there, {differs}", "未通过检查 {name}：从那里起，{differs}"],
    ["fails the check {name}; it begins with {raw}", "未通过检查 {name}；正文开头为 {raw}"],
    ["fails the check {name}", "未通过检查 {name}"],
    [
      "has {n} bytes, expected {allowed}; it begins with {raw}",
      "有 {n} 字节，期望 {allowed}；正文开头为 {raw}",
    ],
    [
      "has SHA-256 {key}, expected {key2}; it has {n} bytes and begins with {raw}",
      "的 SHA-256 为 {key}，期望 {key2}；有 {n} 字节，开头为 {raw}",
    ],
    ["is not JSON ({name}): {raw}", "不是 JSON（{name}）：{raw}"],
    [
      "differs at byte {n}: expected {raw} ({n2} bytes), got {raw2} ({n3} bytes)",
      "在第 {n} 字节处不同：期望 {raw}（{n2} 字节），得到 {raw2}（{n3} 字节）",
    ],
    ["differs at {differs}", "在 {differs}"],
  ],
  differs: [
    ["{key}: ¦expected {raw}, but the key is missing", "{key} 处期望 {raw}，但没有这个键"],
    ["{key}: ¦expected no such key, got {raw}", "{key} 处不应有这个键，得到 {raw}"],
    ["{key}: ¦expected {n} elements, got {n2}", "{key} 处期望 {n} 个元素，得到 {n2} 个"],
    ["{key}: ¦expected {raw}, got {raw2}", "{key} 处期望 {raw}，得到 {raw2}"],
  ],
  stage: [
    ["while connecting", "在连接时"],
    ["during the TLS handshake", "在 TLS 握手时"],
    ["while the request was sent", "在发送请求时"],
    ["before any answer", "在应答之前"],
    ["within the header", "在响应头中"],
    ["within the body, after {n} of {n2} bytes", "在正文中（{n2} 字节中的第 {n} 字节后）"],
    ["within the body, after {n} bytes", "在正文中（第 {n} 字节后）"],
  ],
  alert: [
    [
      "{name} (the server demands a client certificate; give --cert and --key)",
      "{name}（服务器要求客户端证书；请给出 `--cert` 和 `--key`）",
    ],
    ["{name} (the server refuses the client certificate)", "{name}（服务器拒绝客户端证书）"],
    [
      "{name} (the server accepts none of the ciphers or groups offered)",
      "{name}（服务器不接受所提供的任何密码套件或组）",
    ],
    ["{name} (the server accepts none of the versions offered)", "{name}（服务器不接受所提供的任何版本）"],
    ["{name} (the server speaks none of the --alpn protocols)", "{name}（服务器不支持 `--alpn` 的任何协议）"],
    ["{name} (the server does not know this name; see --sni)", "{name}（服务器不认识这个名字；见 `--sni`）"],
    ["{name}", "{name}"],
  ],
};
