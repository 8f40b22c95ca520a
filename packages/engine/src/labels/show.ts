// How a text that a person typed is shown: a label, a message, a name. Pages, the command line, mails, chat messages and commit
// statuses all show it with these functions; the API and webhooks pass it on as it was typed.
import { findEmoji } from './emoji.ts'

/** Times such as 10:30:00 are no names. */
const NAME = /(?<![A-Za-z0-9]):([a-z0-9_+-]{1,60}):(?![A-Za-z0-9])/g

/** `:tada:` becomes 🎉. A name that nobody knows stays as it was typed. */
export const showLabel = (text: string): string =>
  text.replace(NAME, (typed: string, name: string) => findEmoji(name) ?? typed)

/** For where emoji have no place, such as what is read aloud. A text of nothing else keeps them. */
export function withoutEmoji(text: string): string {
  const rest = text
    .replace(NAME, (typed: string, name: string) => (findEmoji(name) === null ? typed : ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return rest === '' ? showLabel(text) : rest
}
