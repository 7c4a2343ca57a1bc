/**
 * Which Rust files write sentences for the page, and which of their literals need no Chinese. For the tests only.
 *
 * A new file of these folders is held to them at once; a new sentence in it needs a template in the same change.
 */

/** Files, below `crates/`, of which every sentence has a template. */
export const COMPLETE: RegExp[] = [
  /^analyze\/src\//,
  /^collect\/src\/doctor\//,
  /^schema\/src\/finding\.rs$/,
];

/** Literals of such files, or of all others, that never are a sentence on the page. */
export const LEFT_OUT: { file: RegExp; text?: RegExp; why: string }[] = [
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
    file: /^analyze\/src\/(trial\/steady\/synthetic\.rs|stats\/(?!mod\.rs))/,
    why: "series of tests, and messages for programmers; what statistics refuse stands in stats/mod.rs",
  },
  {
    file: /^analyze\/src\/trial\/(threshold|objective)\.rs$/,
    text: /^(?!(no request|goodput|the backlog|it was not measured|this load has)).*$/s,
    why: "mistakes in arguments and experiment files: they end the command",
  },
  {
    file: /^analyze\/src\/run\/across\/compare\.rs$/,
    text: /remedy: /,
    why: "errors with two lines: each line has a template of its own",
  },
  { file: /^analyze\/src\/soak\/words\.rs$/, text: /^\0 days$/, why: "a unit: the engine knows it" },
  {
    file: /^collect\/src\/doctor\//,
    text: /^(model name|CPU part|cpu MHz|Max open files)$/,
    why: "keys of files of the kernel",
  },
];
