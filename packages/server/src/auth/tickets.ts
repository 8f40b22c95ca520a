// Tickets authorize requests of programs that send no token when they transfer files. A ticket is an expiry time and a signature
// that only this installation can make.
import { forbidden } from '../lib/errors.ts'
import type { Keyring } from './keyring.ts'

type Use = 'upload' | 'part' | 'download' | 'cache read' | 'cache write' | 'page'

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
export function checkTicket(ticketed: Ticketed, use: Use, what: string, ticket: string | undefined): number {
  const leftMs = ticketLeftMs(ticketed, use, what, ticket)
  if (leftMs === null) throw forbidden('The address is not one that this server has handed out.')
  if (leftMs < 0) throw forbidden('The address has expired. Ask for a new one.')
  return Math.ceil(leftMs / 1000)
}

export const isTicket = (ticketed: Ticketed, use: Use, what: string, ticket: string): boolean =>
  (ticketLeftMs(ticketed, use, what, ticket) ?? -1) >= 0

/** null: this installation has not issued the ticket for that. */
function ticketLeftMs(
  { keys, now }: Ticketed,
  use: Use,
  what: string,
  ticket: string | undefined,
): number | null {
  const [, expires = '', code = ''] = /^(\d{1,12})\.([\w-]{1,64})$/.exec(ticket ?? '') ?? []
  if (!keys.verify(`artifact ${use}`, `${what} ${expires}`, Buffer.from(code, 'base64url'))) return null
  return Number(expires) * 1000 - now().getTime()
}
