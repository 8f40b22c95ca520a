import { validationFailed } from '../../lib/errors.ts'

const mostEmailLength = 254
const emailPattern = /^[^\s@<>(),;:"\\[\]]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u

/** Accepts addresses that need no quoting in a mail header. It does not check that the mailbox exists. */
export const isEmail = (text: string): boolean => text.length <= mostEmailLength && emailPattern.test(text)

export function requireEmail(text: string): void {
  if (!isEmail(text)) {
    throw validationFailed(`"${text.slice(0, mostEmailLength)}" is not an e-mail address`)
  }
}
