/**
 * Which files of the Rust sources write plain texts for the page, and which of these need no Chinese. For the tests only.
 */

/** Files, below `crates/`, of which every text has a template. */
export const COMPLETE: RegExp[] = [
  /^analyze\/src\//,
  /^collect\/src\/doctor\//,
  /^collect\/src\/(error|server_side)\.rs$/,
  /^record\/src\/(page\/|error\.rs)/,
  /^runner\/src\/((error|events|adaptive)\.rs|soak\/watch\.rs)/,
  /^plan\/src\/load\/processes\.rs$/,
  /^generate\/src\/(error\.rs|processes\/|agents\/error\.rs)/,
  /^engine\/src\/(generator|failure|tls\/failure)\.rs$/,
  /^probe\/src\//,
  /^launch\/src\/(error|pin|json_diff)\.rs$/,
  /^launch\/src\/contract\/(mod|explain)\.rs$/,
  /^launch\/src\/confine\/(mod|cgroup|lock|netns|subnet)\.rs$/,
  /^profile\/src\//,
  /^index\/src\/(folder|labels)\.rs$/,
  /^serve\/src\//,
];

/** Literals of such files, or of all others, that never are a sentence on the page. */
export const LEFT_OUT: { file: RegExp; text?: RegExp; why: string }[] = [
  {
    file: /^probe\/src\/session\.rs$/,
    text: /^left \(GOAWAY\)$/,
    why: "a part of the sentence in error.rs, which is translated whole",
  },
  {
    file: /^generate\/src\/error\.rs$/,
    text: /^(the server does not say which version of HTTP|name the version, 1\.1 or 2)/,
    why: "of `prony load --http auto` alone; runs name their version",
  },
  {
    file: /^analyze\/src\/run\/why\//,
    text: /^(trial\.json|intervals\.ndjson|host\.cpus less|tcp\.states, target)/,
    why: "where a reading stands: keys of files, in fixed width",
  },
  {
    file: /^analyze\/src\/run\/why\/rules\/event_loop_blocked\.rs$/,
    text: /^response times$/,
    why: "a name of what is missing that no run of prony lacks",
  },
  {
    file: /^analyze\/src\/(trial\/steady\/(synthetic|warming)\.rs|stats\/(?!mod\.rs))/,
    why: "series of tests, and messages for programmers; what statistics refuse stands in stats/mod.rs",
  },
  {
    file: /^analyze\/src\/trial\/(threshold|objective)\.rs$/,
    text: /^(?!(no request|goodput|the backlog|it was not measured|this load has)).*$/s,
    why: "mistakes in arguments and experiment files: they end the command",
  },
  {
    file: /^analyze\/src\/soak\/words\.rs$/,
    text: /^(\0 (days|min|per hour)|a limit)$/,
    why: "units, which the engine knows, and the text of a sentence that has an id",
  },
  {
    file: /^collect\/src\/doctor\//,
    text: /^(model name|CPU part|cpu MHz|Max open files|libc has no other way|no safe wrapper knows)/,
    why: "keys of files of the kernel; notes for programmers",
  },
  {
    file: /^launch\/src\/(pin|confine\/(netns|subnet))\.rs$/,
    text: /^(\0 is no|`\0` is no|use auto|write CPUs|CPU \0 cannot|choose from|it is empty|a CPU is|it needs|a range|link |addr |route |-4 |rustix)/,
    why: "mistakes in arguments; arguments of programs; a note for programmers",
  },
  {
    file: /^launch\/src\/confine\/lock\.rs$/,
    text: /^Max locked memory$/,
    why: "a key of a file of the kernel",
  },
  {
    file: /^profile\/src\/(bpf|folded|pprof|top)\.rs$|^profile\/src\/take\/(bpf|jfr|php)\.rs$/,
    text: /^(to port|waiting for a CPU|in the kernel, not|stopped or ending|total|mean us|p50|p99|\[stacks|main\.main|goroutine profile|interval:|Started|auto_prepend|\0|flat|cum)/,
    why: "names of frames and columns of the profilers' own tables and files",
  },
  {
    file: /^serve\/src\/(guard|front|downloads|overview|live\/(frame|stream))\.rs$/,
    text: /default-src|doctype|charset=|max-age|filename=|HttpOnly|^event: |still there/,
    why: "headers and frames of HTTP, and the page of a binary without pages",
  },
  {
    file: /^serve\/src\/(error|connections|page_of_metrics|starts|token)\.rs$/,
    text: /^(name the folder|there is no folder|cannot listen|listen on|\0 can be reached|the token in|choose a|name an address|begin |wait for signals|make |it is no small|other users|chmod|it has|it holds)/,
    why: "why the server does not start: said in the terminal",
  },
];
