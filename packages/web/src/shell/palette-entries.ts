import { showLabel } from '../parts/labels.ts'
import type { Schemas } from '../api/operations.ts'
import type { IconName } from '../parts/icon-names.ts'
import type { KeyAction } from '../parts/keys.ts'
import { sections } from './sections.ts'
import { openSettings, settingsPath, type Rights } from './settings-pages.ts'

export interface PaletteEntry {
  id: string
  title: string
  subtitle?: string
  icon: IconName
  keys?: string
  run?: () => void
  to?: string
}

/** The pages that can be reached from anywhere. `may`: what the person may do there; null: not known yet. */
export const pageEntries = (org: string | null, may: Rights | null): PaletteEntry[] => [
  ...(org === null ? [] : organizationEntries(org, may)),
  page('Profile', '/-/me', 'user'),
  page('Access tokens', '/-/me/tokens', 'key'),
  page('Connected programs', '/-/me/programs', 'plug'),
  page('Sessions', '/-/me/sessions', 'monitor'),
]

const organizationEntries = (org: string, may: Rights | null): PaletteEntry[] => [
  ...sections.map(({ title, path, icon }) => page(title, path(org), icon)),
  page('My builds', `/organizations/${org}/builds?creator=me`, 'user'),
  page('Clusters and queues', `/organizations/${org}/clusters`, 'layers'),
  ...(may?.create_pipelines === true
    ? [page('New pipeline', `/organizations/${org}/pipelines/new`, 'plus')]
    : []),
  ...(may === null ? [] : openSettings(may)).map(({ name, title }) =>
    page(`Settings: ${title}`, settingsPath(org, name), 'settings'),
  ),
]

/** A page that keys lead to names them. */
export function withKeys(entry: PaletteEntry, actions: readonly KeyAction[]): PaletteEntry {
  const action = actions.find(({ to }) => to !== undefined && to === entry.to)
  return action === undefined ? entry : { ...entry, keys: action.keys }
}

const page = (title: string, to: string, icon: IconName): PaletteEntry => ({
  id: `page ${to}`,
  title,
  subtitle: 'Page',
  icon,
  to,
})

interface Context {
  org: string | null
  pipeline: string | null
  /** What the server found for the text. */
  found: readonly PaletteEntry[]
}

const mostOfAKind = 5

/**
 * `#12` leads to a build of the pipeline on screen. A page may have dozens of actions and the settings dozens of pages. So only a
 * few entries of each kind come before what the server found; the others follow it.
 */
export function findEntries(own: readonly PaletteEntry[], text: string, context: Context): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = own.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
  const first: PaletteEntry[] = []
  const others: PaletteEntry[] = []
  const counts = new Map<string, number>()
  for (const entry of matching) {
    const [kind = ''] = entry.id.split(' ', 1)
    const count = counts.get(kind) ?? 0
    counts.set(kind, count + 1)
    ;(count < mostOfAKind ? first : others).push(entry)
  }
  return withoutRepeats([...buildEntry(text, context), ...first, ...context.found, ...others]).slice(0, 60)
}

/** The first of the entries that lead to the same page. */
function withoutRepeats(entries: readonly PaletteEntry[]): PaletteEntry[] {
  const first = new Map<string, PaletteEntry>()
  for (const entry of entries) {
    const key = entry.to ?? entry.id
    if (!first.has(key)) first.set(key, entry)
  }
  return [...first.values()]
}

type Hit = Schemas['SearchHit']

const hitIcons: Record<Hit['type'], IconName> = {
  pipeline: 'workflow',
  build: 'play',
  commit: 'git-commit-horizontal',
  agent: 'server',
  cluster: 'layers',
  queue: 'list',
}

/** What the server found, as entries that lead to its pages. */
export const foundEntries = (hits: readonly Hit[]): PaletteEntry[] =>
  hits.map(({ type, title, subtitle, web_url: url }) => ({
    id: `found ${url}`,
    title: showLabel(title),
    subtitle: subtitle === null ? hitNames[type] : `${hitNames[type]}, ${showLabel(subtitle)}`,
    icon: hitIcons[type],
    to: new URL(url).pathname,
  }))

const hitNames: Record<Hit['type'], string> = {
  pipeline: 'Pipeline',
  build: 'Build',
  commit: 'Commit',
  agent: 'Agent',
  cluster: 'Cluster',
  queue: 'Queue',
}

function buildEntry(text: string, { org, pipeline }: Context): PaletteEntry[] {
  const [, number] = /^#?(\d{1,9})$/.exec(text) ?? []
  if (number === undefined || org === null || pipeline === null) return []
  const to = `/${org}/${pipeline}/builds/${number}`
  return [{ id: `build ${number}`, title: `Build #${number} of ${pipeline}`, icon: 'play', to }]
}
