import type { WatchedPipeline } from './queries.ts'

const statuses = { passed: 'Success', failed: 'Failure' } as const

/** The format of CruiseControl, which programs read that show the state of builds in a tray or on a wall. */
export function presentProjects(
  url: string,
  orgSlug: string,
  branch: string | undefined,
  pipelines: readonly WatchedPipeline[],
): string {
  const projects = pipelines.map(({ name, slug, created_at, is_building: isBuilding, last }) =>
    element({
      name: branch === undefined ? name : `${name} (${branch})`,
      activity: isBuilding ? 'Building' : 'Sleeping',
      lastBuildStatus: last === null ? 'Unknown' : statuses[last.state],
      lastBuildLabel: last === null ? '' : String(last.number),
      // The format demands a time.
      lastBuildTime: new Date(last?.ended_at ?? created_at).toISOString(),
      webUrl: `${url}/${orgSlug}/${slug}`,
    }),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Projects>\n${projects.join('')}</Projects>\n`
}

const element = (attributes: Readonly<Record<string, string>>) =>
  `  <Project ${Object.entries(attributes)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(' ')}/>\n`

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML has no way to write most control characters. */
const escape = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"]/g, (character) => entities[character] ?? '')
