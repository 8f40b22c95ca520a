// The acknowledged requests. Kept by the checking process, which is never killed.

export type Entry =
  /** Bytes `from` to before `to` of the job's log. */
  | { kind: 'log'; jobId: string; from: number; to: number }
  | { kind: 'artifact'; jobId: string; artifactId: string; sha256: string }
  | { kind: 'meta_data'; buildId: string; key: string; value: string }
  | { kind: 'finish'; jobId: string; exitStatus: number }
  /** The server answered with 500. */
  | { kind: 'bug'; call: string }
  /** Only counted. */
  | { kind: 'note'; what: string }
