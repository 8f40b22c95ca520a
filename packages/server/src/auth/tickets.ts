// Tickets authorize requests of programs that send no token when they transfer files. A ticket is an expiry time and a signature
// that only this installation can make.
import { forbidden } from '../lib/errors.ts'
import type { Keyring } from './keyring.ts'

type Use = 'upload' | 'part' | 'download' | 'cache read' | 'cache write'

interface Ticketed {
  keys: Keyring
  now: () => Date
}

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
