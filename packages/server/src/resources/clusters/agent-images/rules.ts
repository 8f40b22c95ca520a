import { randomInt } from 'node:crypto'
import { parseInAllDialects, type Instruction } from './instructions.ts'

/** Why these instructions are refused; null: they are allowed, whether or not they build. */
export function refuseDockerfile(dockerfile: string): string | null {
  if (hasDirective(dockerfile)) {
    return 'dockerfile must not begin with a parser directive; behind the base image it would be a comment'
  }
  for (const instructions of parseInAllDialects(dockerfile)) {
    for (const instruction of instructions) {
      const reason = refuseInstruction(instruction)
      if (reason !== null) return `dockerfile ${reason}`
    }
  }
  return null
}

function refuseInstruction({ keyword, rest }: Instruction): string | null {
  // Builders fold the case of non-ASCII letters, so an unknown keyword could become FROM.
  if (/[^\x21-\x7e]/.test(keyword)) return 'must have instructions that are written in plain letters'
  switch (keyword.toUpperCase()) {
    case 'FROM':
      return 'must not have a FROM instruction; the base image is put before it'
    case 'ONBUILD':
      return refuseInstruction(splitFirst(rest))
    case 'ADD':
      // The engine would fetch URLs from its own network, and there are no files to add.
      return 'must not have an ADD instruction; fetch and write files with RUN'
    case 'COPY':
      return refuseFlags(rest, (flag) =>
        flag.startsWith('--from') ? 'must not COPY --from anything; the base image is the only stage' : null,
      )
    case 'RUN':
      return refuseFlags(rest, refuseRunFlag)
    default:
      return null
  }
}

/**
 * A mount can read any image of the engine, and its caches are shared by all tenants. Builds must not use the host's network
 * or devices.
 */
const refuseRunFlag = (flag: string): string | null =>
  /^--mount=type=tmpfs(,(target|dst|destination|size)=[^,]+)*$/.test(flag) ||
  /^--network=(none|default)$/.test(flag)
    ? null
    : 'must not have RUN with flags other than --mount=type=tmpfs and --network=none'

/** Builders remove quotes and backslashes inside a flag before they read it. */
function refuseFlags(rest: string, refuse: (flag: string) => string | null): string | null {
  const bare = rest.replace(/["'\\]/g, '')
  for (let left = bare; ;) {
    const { keyword: word, rest: after } = splitFirst(left)
    if (!word.startsWith('--')) return null
    const reason = refuse(word)
    if (reason !== null) return reason
    left = after
  }
}

function splitFirst(text: string): Instruction {
  const [, keyword = '', rest = ''] = /^\s*(\S*)\s*(.*)$/su.exec(text) ?? []
  return { keyword, rest }
}

function hasDirective(dockerfile: string): boolean {
  for (const line of dockerfile.split(/\r\n|\r|\n/)) {
    const comment = /^\s*(?:#|\/\/)(.*)$/su.exec(line.replace(/^\uFEFF/, ''))?.[1]
    if (comment === undefined) return false
    if (/^\s*(syntax|escape|check)\s*=/i.test(comment)) return true
  }
  return false
}

export const composeDockerfile = (baseImage: string, dockerfile: string): string =>
  `${baseImage}\n${dockerfile}`

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** 36^13 possible ids: unique, and hard to guess. */
export const newImageId = (): string =>
  Array.from({ length: 13 }, () => letters[randomInt(letters.length)]).join('')

export const imageRef = (registry: string, clusterId: string, imageId: string, version: number): string =>
  `${registry}/${clusterId}/${imageId}:v${version}`
