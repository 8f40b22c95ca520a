// Which places in the sources the failing rows of logs name. Pure. The rows are output of programs, so they can say anything.

/** As GitHub takes it. */
export interface LineAnnotation {
  path: string
  start_line: number
  end_line: number
  annotation_level: 'failure'
  title: string
  message: string
}

interface FailingRows {
  job: string
  /** The texts of the rows, and which of them shows why the job failed. */
  rows: readonly string[]
  failing: string | null
}

export const mostAnnotations = 50
const mostOfJob = 10
const longestPath = 300
const longestTitle = 200
const largestLine = 10_000_000

const code =
  'astro|bash|bats|bzl|c|cc|cfg|cjs|clj|conf|cpp|cs|css|cts|cxx|dart|erl|ex|exs|feature|fs|go|gradle|graphql|groovy|h|hpp|hs|html|ini|java|js|json|jsx|jl|kt|kts|less|lua|m|md|mjs|ml|mm|mts|nix|php|pl|pm|proto|ps1|py|pyi|r|rb|rs|rst|scala|scss|sh|sol|sql|svelte|swift|tf|toml|ts|tsx|txt|v|vb|vue|xml|yaml|yml|zig|zsh'
const path = String.raw`((?:[\w.@+-]*/)*[\w.@+-]+\.(?:${code}))`
const start = String.raw`(?:^|[\s("'\x60\[<>=])`
const forms = [
  new RegExp(String.raw`\bFile "${path}", line (\d+)`),
  new RegExp(String.raw`${start}${path}\((\d+)(?:,\d+)*\)`),
  new RegExp(String.raw`${start}${path}:(\d+)(?!\d)`),
]

/** `address` is that of the pipeline, `org/pipeline`: agents check out into a folder of this name. */
export function annotationsOf(jobs: readonly FailingRows[], address: string): LineAnnotation[] {
  const found = new Map<string, LineAnnotation>()
  for (const { job, rows, failing } of jobs) {
    let ofJob = 0
    // The failing row comes first, then the rows around it, such as those of its stack.
    for (const row of [...(failing === null ? [] : [failing]), ...rows]) {
      const place = placeIn(row, address)
      const key = place && `${place.path}:${place.line}`
      if (place === null || key === null || found.has(key)) continue
      if (ofJob >= mostOfJob || found.size >= mostAnnotations) break
      ofJob += 1
      found.set(key, {
        path: place.path,
        start_line: place.line,
        end_line: place.line,
        annotation_level: 'failure',
        title: job.slice(0, longestTitle).toWellFormed(),
        message: (failing === null || failing === row ? [row] : [failing, row])
          .map((text) => text.trim())
          .join('\n'),
      })
    }
  }
  return [...found.values()]
}

function placeIn(row: string, address: string): { path: string; line: number } | null {
  for (const form of forms) {
    const [, named = '', digits = ''] = form.exec(row) ?? []
    const line = Number(digits)
    const inside = pathInside(named, address)
    if (inside !== null && Number.isInteger(line) && line > 0 && line <= largestLine)
      return { path: inside, line }
  }
  return null
}

/** Relative to the repository; null: the file is not known to be in it. */
function pathInside(named: string, address: string): string | null {
  const folder = `/${address}/`
  const at = named.startsWith('/') ? named.indexOf(folder) : -1
  const inside = at < 0 ? named.replace(/^(?:\.\/)+/, '') : named.slice(at + folder.length)
  const parts = inside.split('/')
  const isInside = parts.every((part) => part !== '' && part !== '..' && part !== 'node_modules')
  return isInside && inside.length <= longestPath ? inside : null
}
