// What a browser loads before it shows the list of pipelines, and the largest file that it loads later.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { row, type Report } from '../harness/report.ts'

const site = fileURLToPath(new URL('../../../packages/web/dist/site/', import.meta.url))
const mostFirst = 180
const mostLazy = 130

/** It is not where Node is too old for the bundler. */
export const isSiteBuilt = (): boolean => existsSync(`${site}index.html`)

export function bundleSizes(): Omit<Report, 'name'> {
  const first = firstPage()
  const scripts = readdirSync(`${site}assets`).filter((name) => name.endsWith('.js'))
  const lazy = scripts
    .filter((name) => !first.has(name))
    .map((name) => ({ name, size: kilobytes(name) }))
    .sort((a, b) => b.size - a.size)
  const total = (ending: string) =>
    [...first].filter((name) => name.endsWith(ending)).reduce((sum, name) => sum + kilobytes(name), 0)
  const [js, css] = [total('.js'), total('.css')]
  const largest = lazy[0] ?? { name: 'none', size: 0 }
  return {
    rows: [
      row(
        'first page, gzip',
        `${(js + css).toFixed(1)} kB`,
        `${js.toFixed(1)} kB JavaScript, ${css.toFixed(1)} kB CSS, ${first.size} files`,
      ),
      row('largest lazy chunk, gzip', `${largest.size.toFixed(1)} kB`, largest.name),
    ],
    targets: [
      {
        what: 'first page, gzip',
        target: `≤ ${mostFirst} kB`,
        measured: `${(js + css).toFixed(1)} kB`,
        met: js + css <= mostFirst,
      },
      {
        what: 'largest lazy chunk, gzip',
        target: `≤ ${mostLazy} kB`,
        measured: `${largest.size.toFixed(1)} kB`,
        met: largest.size <= mostLazy,
      },
    ],
  }
}

const kilobytes = (name: string) => statSync(`${site}assets/${name}.gz`).size / 1000

const read = (name: string) => readFileSync(`${site}${name}`, 'utf8')

/** Files of the shell and of the page of pipelines, with everything that they import statically. */
function firstPage(): Set<string> {
  const shell = [...read('index.html').matchAll(/(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g)].map(match)
  const found = new Set<string>()
  const add = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    if (name.endsWith('.js')) importsOf(read(`assets/${name}`)).forEach(add)
  }
  shell.forEach(add)
  const entry = shell.find((name) => /^index-.*\.js$/.test(name))
  if (entry === undefined) throw new Error('The shell of the web names no entry.')
  filesOfPage(read(`assets/${entry}`), 'PipelinesPage').forEach(add)
  return found
}

const match = (found: RegExpMatchArray) => found[1] ?? ''

const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g)].map(match)

/** Vite lists the scripts and style sheets of a lazy page beside its import, as places in one list of names. */
function filesOfPage(entry: string, page: string): string[] {
  const names = /m\.f=\[([^\]]*)\]/.exec(entry)?.[1]?.split(',') ?? []
  const places = new RegExp(`__vite__mapDeps\\(\\[([\\d,]*)\\]\\)\\),[\`"']${page}[\`"']`).exec(entry)?.[1]
  if (places === undefined) throw new Error(`The entry of the web does not import ${page}.`)
  return places
    .split(',')
    .map((place) => (names[Number(place)] ?? '').replaceAll(/^["'`]assets\/|["'`]$/g, ''))
}
