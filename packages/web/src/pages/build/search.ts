// What the address of a build says after the question mark.
export const views = ['summary', 'graph', 'table', 'waterfall'] as const
export const tabs = [
  'failures',
  'annotations',
  'artifacts',
  'tests',
  'environment',
  'uploads',
  'notifications',
] as const
const panels = ['log', 'artifacts', 'environment', 'timeline'] as const

export type ViewName = (typeof views)[number]
export type TabName = (typeof tabs)[number]
export type PanelName = (typeof panels)[number]

export interface BuildSearch {
  view?: ViewName | undefined
  /** Shown instead of a view. */
  tab?: TabName | undefined
  /** The part of the job panel. */
  panel?: PanelName | undefined
  /** Of the table and the waterfall. */
  filter?: string | undefined
  sort?: string | undefined
}

/** Unknown values are left out, so that an old address shows the build as it opens. */
export function readBuildSearch(search: Record<string, unknown>): BuildSearch {
  const { filter, sort } = search
  return {
    view: views.find((each) => each === search['view']),
    tab: tabs.find((each) => each === search['tab']),
    panel: panels.find((each) => each === search['panel']),
    filter: isText(filter) ? String(filter) : undefined,
    sort: isText(sort) ? String(sort) : undefined,
  }
}

/** The router reads `?filter=7` as a number. */
const isText = (value: unknown) => (typeof value === 'string' && value !== '') || typeof value === 'number'

/** Another view of the same build: the selected job stays, and nothing scrolls. */
export const sameBuild = { to: '.', hash: true, resetScroll: false, hashScrollIntoView: false } as const

/** One tab is the present one. Without it, the router also marks those whose search is a part of the address. */
export const oneTab = { activeOptions: { exact: true } } as const

export const withView = (search: BuildSearch, view: ViewName): BuildSearch => ({
  ...search,
  view,
  tab: undefined,
})

export const withPanel = (search: BuildSearch, panel: PanelName): BuildSearch => ({
  ...search,
  panel: panel === 'log' ? undefined : panel,
})
