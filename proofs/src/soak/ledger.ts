// The acknowledged requests. Kept by the checking process, which is never killed.

export type Entry =
  /** `key` is the build's message. */
  | { kind: 'build'; key: string; buildId: string; pipeline: string; number: number }
  /** Milliseconds of this machine's clock: when the server acknowledged the cancellation. */
  | { kind: 'cancel'; buildId: string; at: number }
  /** Milliseconds of this machine's clock: when the agent first asked to start the job. */
  | { kind: 'start'; jobId: string; buildId: string; askedAt: number }
  | { kind: 'annotation'; buildId: string; context: string; body: string }
  /** Bytes `from` to before `to` of the job's log. */
  | { kind: 'log'; jobId: string; from: number; to: number }
  | { kind: 'artifact'; jobId: string; artifactId: string; sha256: string }
  | { kind: 'meta_data'; buildId: string; key: string; value: string }
  | { kind: 'finish'; jobId: string; exitStatus: number }
  /** A request that got no answer, or one with 5xx, and was repeated. `at`: milliseconds of this machine's clock. */
  | { kind: 'failure'; call: string; reason: string; at: number }
  /** The server refused what it must not refuse. */
  | { kind: 'refusal'; reason: string }
  /** The server answered with 500. */
  | { kind: 'bug'; call: string }
  /** Only counted. */
  | { kind: 'note'; what: string }
