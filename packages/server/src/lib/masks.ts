const shown = 4

/** Replaces all but the last four characters by X. A short text is replaced whole. */
export const mask = (text: string): string => {
  const tail = text.length > 2 * shown ? text.slice(-shown) : ''
  return 'X'.repeat(text.length - tail.length) + tail
}
