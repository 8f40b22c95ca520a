// Stack traces of the bundled program name the files it was made of. Node can do that too, but then reads all source maps
// at every start; here the first trace to be shown reads those that it needs.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/** For files whose URL begins with `folder`. */
export function nameSources(folder) {
  const maps = new Map()
  const mapOf = (url) => {
    if (!maps.has(url)) maps.set(url, readMap(url))
    return maps.get(url)
  }
  const place = /(file:\/\/[^\s()]+?\.c?js):(\d+):(\d+)/g
  Error.prepareStackTrace = (error, calls) => {
    const lines = [headOf(error), ...calls.map(String)].join('\n    at ')
    return lines.replace(place, (found, url, line, column) => {
      const map = url.startsWith(folder) ? mapOf(url) : null
      return sourceOf(map, url, Number(line), Number(column)) ?? found
    })
  }
}

function sourceOf(map, url, line, column) {
  const { originalSource, originalLine, originalColumn } = map?.findEntry(line - 1, column - 1) ?? {}
  if (originalSource === undefined) return null
  return `${fileURLToPath(new URL(originalSource, url))}:${originalLine + 1}:${originalColumn + 1}`
}

function readMap(url) {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')))
  } catch {
    return null
  }
}

function headOf(error) {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return '<error>'
  }
}
