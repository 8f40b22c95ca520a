// Parts of a job's log. The body is the gzip of the bytes; their place in the log is in the query.
import { Type, type Static } from 'typebox'

/** Numbers as text, as queries carry them. Offset and size count bytes before compression. */
export const ChunkQuery = Type.Object({
  /** From 1 (some senders begin at 0), one more for every chunk. */
  sequence: Type.String(),
  offset: Type.String(),
  size: Type.String(),
})
export type ChunkQuery = Static<typeof ChunkQuery>

/** When each section of the log began, by its place among the sections, from 0. */
export const HeaderTimesRequest = Type.Object({ header_times: Type.Record(Type.String(), Type.Unknown()) })
