import { validationFailed } from '../../lib/errors.ts'

const mostEmailLength = 254
const emailPattern = /^[^\s@<>(),;:"\\[\]]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u

/** Only what can stand in the head of a mail as it is; whether anyone reads it, only a mail can tell. */
export function requireEmail(text: string): void {
  if (text.length > mostEmailLength || !emailPattern.test(text)) {
    throw validationFailed(`"${text.slice(0, mostEmailLength)}" is not an e-mail address`)
  }
}
