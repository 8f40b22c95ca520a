// What the server has acknowledged. It is kept by the process that checks, never by those that are killed.

export type Entry =
  /** Bytes `from` up to `to` of the job's log. */
  | { kind: 'log'; jobId: string; from: number; to: number }
  | { kind: 'artifact'; jobId: string; artifactId: string; sha256: string }
  | { kind: 'meta_data'; buildId: string; key: string; value: string }
  | { kind: 'finish'; jobId: string; exitStatus: number }
  /** The server answered with 500. */
  | { kind: 'bug'; call: string }
  /** Nothing that has to be kept, but worth counting. */
  | { kind: 'note'; what: string }
