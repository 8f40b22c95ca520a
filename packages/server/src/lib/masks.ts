const shown = 4

/** All but the last characters become X. A text too short to hide anything that way is hidden whole. */
export const mask = (text: string): string => {
  const tail = text.length > 2 * shown ? text.slice(-shown) : ''
  return 'X'.repeat(text.length - tail.length) + tail
}
