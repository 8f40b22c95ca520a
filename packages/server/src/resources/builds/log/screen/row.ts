// A row of a log: a line as a terminal shows it at the end.

export interface Row {
  /** Milliseconds since 1970, from the first time code of the agent in this row. */
  time: number | null
  runs: readonly Run[]
}

/** Characters with one style (see style.ts) and one link; both may be empty. */
export interface Run {
  text: string
  style: string
  link: string
}

/** The part of a row for links, so that a link that spans many runs does not multiply the log. */
const mostLinkCharacters = 4096

/** `[time, run, …]`. A run is its text, or `[text, style]`, or `[text, style, link]`. */
export function rowJson({ time, runs }: Row): string {
  let json = `[${time}`
  let linkCharacters = 0
  for (const { text, style, link } of runs) {
    linkCharacters += link.length
    // Words of styles need no escapes.
    if (link !== '' && linkCharacters <= mostLinkCharacters)
      json += `,[${JSON.stringify(text)},"${style}",${JSON.stringify(link)}]`
    else json += style === '' ? `,${JSON.stringify(text)}` : `,[${JSON.stringify(text)},"${style}"]`
  }
  return `${json}]`
}

export type RowJson = [
  time: number | null,
  ...runs: Array<string | [text: string, style: string, link?: string]>,
]

export function parseRow(json: string): Row {
  const [time, ...runs] = JSON.parse(json) as RowJson
  return {
    time,
    runs: runs.map((run) => {
      const [text, style = '', link = ''] = typeof run === 'string' ? [run] : run
      return { text, style, link }
    }),
  }
}

export const textOfJson = ([, ...runs]: RowJson): string =>
  runs.map((run) => (typeof run === 'string' ? run : run[0])).join('')

export function textOf({ runs }: Row): string {
  const [first] = runs
  return runs.length === 1 && first !== undefined ? first.text : runs.map(({ text }) => text).join('')
}
