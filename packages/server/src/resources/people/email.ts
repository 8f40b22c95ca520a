import { validationFailed } from '../../lib/errors.ts'

const mostEmailLength = 254
const emailPattern = /^[^\s@<>(),;:"\\[\]]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u

/** Accepts addresses that need no quoting in a mail header. It does not check that the mailbox exists. */
export const isEmail = (text: string): boolean =>
  text.length <= mostEmailLength && emailPattern.test(text) && !text.toLowerCase().endsWith(serviceDomain)

/** Nobody receives mail there (RFC 6761), so nobody else gets to be that user by an invitation or a provider. */
const serviceDomain = '@service-account.invalid'

export const serviceAccountEmail = (id: string): string => `${id}${serviceDomain}`

export function requireEmail(text: string): void {
  if (!isEmail(text)) {
    throw validationFailed(`"${text.slice(0, mostEmailLength)}" is not an e-mail address`)
  }
}
