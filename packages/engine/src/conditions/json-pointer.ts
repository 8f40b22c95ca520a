// JSON pointers (RFC 6901): where a value is in a JSON document.

/** `/a/0/b~1c`: each part begins with a slash; `~1` is a slash and `~0` a tilde. The empty pointer, the whole document, does not count. */
export const isJsonPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)+$/.test(text)

/** undefined: nothing is there. Only what the document itself has is found, never what JavaScript adds. */
export function findAt(document: unknown, pointer: string): unknown {
  let found = document
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null) return undefined
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined
    if (!Object.hasOwn(found, key)) return undefined
    found = Reflect.get(found, key)
  }
  return found
}

/** The value as a text; null where there is none, or one that is no text, number or boolean. */
export function textAt(document: unknown, pointer: string): string | null {
  const found = findAt(document, pointer)
  if (typeof found === 'number' || typeof found === 'boolean') return String(found)
  return typeof found === 'string' ? found : null
}
