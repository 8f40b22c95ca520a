// Parts of a job's log. The body is the gzip of the bytes; where they belong is in the query.

/** Numbers as text, as queries carry them. Offset and size count bytes before compression. */
export interface ChunkQuery {
  /** From 1 (some senders begin at 0), one more for every chunk. */
  sequence: string
  offset: string
  size: string
}

/** When each section of the log began, by its place among the sections, from 0. */
export interface HeaderTimesRequest {
  header_times: Record<string, string>
}
