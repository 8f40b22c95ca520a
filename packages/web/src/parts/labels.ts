// Shows what people typed, as engine/labels/show.ts does. The names of emoji are 20 kB, so they are loaded beside the page.
import { Listeners } from '../api/listeners.ts'
import { replaceNames } from '@millrace/engine/labels/names.ts'

let find: ((name: string) => string | null) | null = null
/** Counts up if a text was shown before its names were known. */
let version = 0
let hasMissed = false
const listeners = new Listeners()

export const namesLoaded: Promise<void> = import('@millrace/engine/labels/emoji.ts').then(
  ({ findEmoji }) => {
    find = findEmoji
    if (!hasMissed) return
    version++
    listeners.call()
  },
  // Without them, names stay as they were typed.
  () => {},
)

/** `:tada:` becomes 🎉. A name that nobody knows stays as it was typed. */
export const showLabel = (text: string): string =>
  replaceNames(text, (name) => {
    if (find === null) hasMissed = true
    return find?.(name) ?? null
  })

export const namesStore = { subscribe: listeners.add, read: () => version }
