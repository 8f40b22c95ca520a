// How long the tickets of artifacts are valid, and the URLs that carry them.
import { issueTicket } from '../../../auth/tickets.ts'
import type { Context } from '../../../context.ts'

/** Long enough for the largest file over a slow connection. */
export const uploadSeconds = 24 * 60 * 60
/** Spec, Limits: a download URL is valid for 60 seconds. */
export const downloadSeconds = 60
/** A job may download thousands of files, one after the other, after one search. */
export const searchSeconds = 60 * 60

/** A URL with which anyone can read the file for so many seconds. */
export const fileUrl = (ctx: Context, id: string, seconds: number): string =>
  `${ctx.config.url}/v2/artifacts/${id}/file?ticket=${issueTicket(ctx, 'download', id, seconds)}`
