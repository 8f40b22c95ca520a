// How a text that a person typed is shown: a label, a message, a name. Pages, the command line, mails, chat messages and commit
// statuses all show it with these functions (pages load the names later, in web/src/parts/labels.ts); the API and webhooks pass it on as it was typed.
import { findEmoji } from './emoji.ts'
import { replaceNames } from './names.ts'

/** `:tada:` becomes 🎉. A name that nobody knows stays as it was typed. */
export const showLabel = (text: string): string => replaceNames(text, findEmoji)

/** For where emoji have no place, such as what is read aloud. A text of nothing else keeps them. */
export function withoutEmoji(text: string): string {
  const rest = replaceNames(text, (name) => (findEmoji(name) === null ? null : ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return rest === '' ? showLabel(text) : rest
}
