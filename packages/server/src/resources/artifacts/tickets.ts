// Addresses and form fields that authorize by themselves, for programs that send no token when they move files: a
// time until which they are good, and a code over it that only this installation can make.
import type { Context } from '../../context.ts'
import { forbidden } from '../../lib/errors.ts'

type Use = 'upload' | 'part' | 'download'

interface Ticketed {
  keys: Context['keys']
  now: Context['now']
}

/** Long enough for the largest file over the slowest line. */
export const uploadSeconds = 24 * 60 * 60
/** Spec, Limits: the address of a download is good for 60 seconds. */
export const downloadSeconds = 60
/** A job that searches may have thousands of files to fetch, one after the other. */
export const searchSeconds = 60 * 60

/** `what` names the one thing the ticket is for. */
export function issueTicket({ keys, now }: Ticketed, use: Use, what: string, seconds: number): string {
  const expires = Math.ceil(now().getTime() / 1000) + seconds
  return `${expires}.${keys.sign(`artifact ${use}`, `${what} ${expires}`).toString('base64url')}`
}

/** For how many more seconds it is good. */
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

/** Where the file of an artifact can be read for so long, by whoever has the address. */
export const fileUrl = (ctx: Context, id: string, seconds: number): string =>
  `${ctx.config.url}/v2/artifacts/${id}/file?ticket=${issueTicket(ctx, 'download', id, seconds)}`
