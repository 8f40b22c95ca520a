import type { SourceEntry } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { CacheVolume } from '../types.ts'
import { isNull, readText, readTexts, wrong } from '../values.ts'

const MIN_SIZE_GB = 20
const MAX_NAME = 100

/** A cache as written in one place, before the document's default and the step's own are merged. */
export interface CacheSetting {
  name: string | null
  paths: string[]
  sizeGb: number | null
}

/** Null when absent, false when switched off. */
export function readCache(entry: SourceEntry | undefined, report: Report): CacheSetting | false | null {
  if (!entry || isNull(entry.value)) return null
  const { value } = entry
  if (value.kind === 'scalar' && value.text === 'false') return false
  if (value.kind !== 'map') {
    const isText = value.kind === 'list' || typeof value.value === 'string'
    if (!isText) wrong(entry, '`false`, a path, a list of paths, or a map with `paths`', report)
    return { name: null, paths: isText ? readPaths(entry, report) : [], sizeGb: null }
  }
  const attributes = readAttributes(value, { owner: '`cache`', names: ['paths', 'name', 'size'] }, report)
  const paths = attributes.get('paths')
  if (!paths) report.problem(entry, '`cache` needs `paths`')
  return {
    name: readVolumeName(attributes.get('name'), report),
    paths: paths ? readPaths(paths, report) : [],
    sizeGb: readSize(attributes.get('size'), report),
  }
}

/** Volumes of one name unite their paths; a step that names another volume has only that one. */
export function mergeCache(
  fallback: CacheSetting | false | null,
  own: CacheSetting | false | null,
): CacheVolume | null {
  const chosen = own ?? fallback
  if (!chosen) return null
  const isSameVolume = fallback && own && fallback.name === own.name
  const paths = isSameVolume ? [...new Set([...fallback.paths, ...own.paths])] : chosen.paths
  const sizeGb = chosen.sizeGb ?? (isSameVolume ? fallback.sizeGb : null) ?? MIN_SIZE_GB
  return { name: chosen.name, paths, sizeGb }
}

function readPaths(entry: SourceEntry, report: Report): string[] {
  const paths = readTexts(entry, report) ?? []
  if (paths.length === 0 || paths.some((path) => path.trim() === '')) {
    wrong(entry, 'at least one path, none of them blank', report)
  }
  return paths
}

function readVolumeName(entry: SourceEntry | undefined, report: Report): string | null {
  const name = readText(entry, report)
  if (!entry || name === null) return null
  if (name.length > MAX_NAME || !/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(name)) {
    wrong(entry, `letters, digits and hyphens between them, at most ${MAX_NAME}`, report)
  }
  return name
}

function readSize(entry: SourceEntry | undefined, report: Report): number | null {
  const text = readText(entry, report)
  if (!entry || text === null) return null
  const digits = /^(\d{1,6})g$/i.exec(text)?.[1]
  const sizeGb = digits === undefined ? 0 : Number(digits)
  if (sizeGb < MIN_SIZE_GB) wrong(entry, `gigabytes such as \`${MIN_SIZE_GB}g\`, which is the least`, report)
  return sizeGb
}
