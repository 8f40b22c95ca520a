// Tickets authorize requests of programs that send no token when they transfer files. A ticket is an expiry time and a signature
// that only this installation can make.
import type { Context } from '../../../context.ts'
import { forbidden } from '../../../lib/errors.ts'

type Use = 'upload' | 'part' | 'download' | 'cache read' | 'cache write'

interface Ticketed {
  keys: Context['keys']
  now: Context['now']
}

/** Long enough for the largest file over a slow connection. */
export const uploadSeconds = 24 * 60 * 60
/** Spec, Limits: a download URL is valid for 60 seconds. */
export const downloadSeconds = 60
/** A job may download thousands of files, one after the other, after one search. */
export const searchSeconds = 60 * 60

/** The ticket is valid only for `what`. */
export function issueTicket({ keys, now }: Ticketed, use: Use, what: string, seconds: number): string {
  const expires = Math.ceil(now().getTime() / 1000) + seconds
  return `${expires}.${keys.sign(`artifact ${use}`, `${what} ${expires}`).toString('base64url')}`
}

/** Returns how many more seconds the ticket is valid. */
export function checkTicket(
  { keys, now }: Ticketed,
  use: Use,
  what: string,
  ticket: string | undefined,
): number {
  const [, expires = '', code = ''] = /^(\d{1,12})\.([\w-]{1,64})$/.exec(ticket ?? '') ?? []
  if (!keys.verify(`artifact ${use}`, `${what} ${expires}`, Buffer.from(code, 'base64url'))) {
    throw forbidden('The address is not one that this server has handed out.')
  }
  const leftMs = Number(expires) * 1000 - now().getTime()
  if (leftMs < 0) throw forbidden('The address has expired. Ask for a new one.')
  return Math.ceil(leftMs / 1000)
}

/** A URL with which anyone can read the file for so many seconds. */
export const fileUrl = (ctx: Context, id: string, seconds: number): string =>
  `${ctx.config.url}/v2/artifacts/${id}/file?ticket=${issueTicket(ctx, 'download', id, seconds)}`
