import type { IconName } from '../parts/icon-names.ts'

export interface PaletteEntry {
  id: string
  title: string
  subtitle?: string
  icon: IconName
  keys?: string
  run?: () => void
  to?: string
}

/** The pages that can be reached from anywhere. */
export const pageEntries = (org: string | null): PaletteEntry[] => [
  ...(org === null
    ? []
    : [
        page('Pipelines', `/${org}`, 'workflow'),
        page('Builds', `/organizations/${org}/builds`, 'list'),
        page('My builds', `/organizations/${org}/builds?creator=me`, 'user'),
        page('New pipeline', `/organizations/${org}/pipelines/new`, 'plus'),
        page('Agents', `/organizations/${org}/agents`, 'server'),
        page('Clusters and queues', `/organizations/${org}/clusters`, 'layers'),
      ]),
  page('Access tokens', '/-/me/tokens', 'key'),
  page('Sessions', '/-/me/sessions', 'monitor'),
]

const page = (title: string, to: string, icon: IconName): PaletteEntry => ({
  id: `page ${to}`,
  title,
  subtitle: 'Page',
  icon,
  to,
})

interface Place {
  org: string | null
  pipeline: string | null
  /** What the server found for the text. */
  found: readonly PaletteEntry[]
}

/** `#12` leads to a build of the pipeline on screen. */
export function findEntries(own: readonly PaletteEntry[], text: string, place: Place): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = own.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
  return [...buildEntry(text, place), ...matching, ...place.found].slice(0, 60)
}

function buildEntry(text: string, { org, pipeline }: Place): PaletteEntry[] {
  const [, number] = /^#?(\d{1,9})$/.exec(text) ?? []
  if (number === undefined || org === null || pipeline === null) return []
  const to = `/${org}/${pipeline}/builds/${number}`
  return [{ id: `build ${number}`, title: `Build #${number} of ${pipeline}`, icon: 'play', to }]
}
