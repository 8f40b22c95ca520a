// Claims as people write them: a line each, `sub = release-server`. Lines with the same name mean one or the other.

type Claims = Record<string, string[]>

export const writeClaims = (claims: Readonly<Claims>): string =>
  Object.entries(claims)
    .flatMap(([name, values]) => values.map((value) => `${name} = ${value}`))
    .join('\n')

/** A text says which line is wrong. */
export function readClaims(text: string): Claims | string {
  const claims: Claims = {}
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue
    const [, name, value] = /^([^=\s]+)\s*=\s*(\S.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return `“${line}” is not like sub = release-server.`
    claims[name] = [...(claims[name] ?? []), value]
  }
  return Object.keys(claims).length === 0
    ? 'Say whose tokens are meant, such as sub = release-server.'
    : claims
}
