// An operation that the fuzzer calls.
/** A JSON schema without references. */
export type Schema = Record<string, unknown>

export interface Answer {
  /** null: the answer has no body. */
  schema: Schema | null
  mediaType: string
}

/** The kind of token that an operation takes. `ticket`: a part of the URL or the form proves the right. */
export type Credential = 'none' | 'user' | 'registration' | 'session' | 'job' | 'suite' | 'cookie' | 'ticket'

export interface Operation {
  /** `GET /v2/organizations/{org}` */
  id: string
  surface: 'rest' | 'agent' | 'other'
  method: string
  /** With placeholders such as `{org}`. */
  path: string
  query: ReadonlyArray<{ name: string; schema: Schema }>
  body: Schema | null
  examples: readonly unknown[]
  credential: Credential
  /** The documented answers by status; null: an answer is not described. */
  answers: ReadonlyMap<number, Answer> | null
}
