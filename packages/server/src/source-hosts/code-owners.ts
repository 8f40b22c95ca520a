// Reads a file CODEOWNERS as GitHub or GitLab does: the last pattern that matches a file names its owners. GitLab decides that in
// each section of the file, and the owners of all sections count.
import { compileGlob } from '@millrace/engine/globs.ts'

export type CodeOwnersDialect = 'github' | 'gitlab'

export interface CodeOwnersQuestion {
  dialect: CodeOwnersDialect
  text: string
  /** Paths below the root of the repository. */
  files: readonly string[]
}

interface Rule {
  matches: (path: string) => boolean
  owners: readonly string[]
  /** GitLab: files of the pattern have no owner in this section, whatever follows. */
  isExclusion: boolean
}

const mostRules = 20_000

/** For each file its owners, without an order of importance; none: nobody owns it. */
export function findCodeOwners({ dialect, text, files }: CodeOwnersQuestion): string[][] {
  const sections = dialect === 'github' ? [readGithub(text)] : readGitlab(text)
  return files.map((file) => [...new Set(sections.flatMap((rules) => ownersIn(rules, file)))])
}

function ownersIn(rules: readonly Rule[], file: string): readonly string[] {
  const excludes = rules.some(({ isExclusion, matches }) => isExclusion && matches(file))
  if (excludes) return []
  return rules.findLast(({ isExclusion, matches }) => !isExclusion && matches(file))?.owners ?? []
}

/** Words are separated by spaces that no backslash escapes; `#` begins a comment. */
function readWords(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\])+/g) ?? []
  const comment = words.findIndex((word) => word.startsWith('#'))
  return comment < 0 ? words : words.slice(0, comment)
}

const linesOf = (text: string): string[] => text.replace(/^\uFEFF/, '').split(/\r?\n/, mostRules)

const isOwner = (word: string): boolean => /^@[^\s@]|^[^\s@]+@[^\s@]+$/.test(word)

function readGithub(text: string): Rule[] {
  return linesOf(text).flatMap((line) => {
    const [pattern, ...owners] = readWords(line)
    // GitHub has no negation, and ignores a line with an owner that cannot be one.
    if (pattern === undefined || pattern.startsWith('!') || !owners.every(isOwner)) return []
    return ruleOf(githubGlob(pattern), owners)
  })
}

function readGitlab(text: string): Rule[][] {
  const sections = new Map<string, Rule[]>([['', []]])
  let [name, defaults]: [string, readonly string[]] = ['', []]
  for (const line of linesOf(text)) {
    const [, title, after] = /^\s*\^?\[([^\]]+)\](?:\[\d+\])?(\s.*)?$/.exec(line) ?? []
    if (title !== undefined) {
      name = title.trim().toLowerCase()
      defaults = readWords(after ?? '').filter(isGitlabOwner)
      if (!sections.has(name)) sections.set(name, [])
      continue
    }
    const [pattern, ...words] = readWords(line)
    if (pattern === undefined) continue
    const named = words.filter(isGitlabOwner)
    const isExclusion = pattern.startsWith('!')
    const owners = named.length === 0 ? defaults : named
    const glob = gitlabGlob(isExclusion ? pattern.slice(1) : pattern)
    sections.get(name)?.push(...ruleOf(glob, owners, isExclusion))
  }
  return [...sections.values()]
}

/** `@@developer` is a role. */
const isGitlabOwner = (word: string): boolean => isOwner(word) || /^@@\w/.test(word)

function ruleOf(glob: string, owners: readonly string[], isExclusion = false): Rule[] {
  const matches = compileGlob(glob)
  return matches === null ? [] : [{ matches, owners, isExclusion }]
}

/** As in .gitignore, but `docs/*` has only the files of that folder, and brackets have no meaning. */
function githubGlob(pattern: string): string {
  const isFolder = pattern.endsWith('/')
  const path = pattern.replace(/^\/+|\/+$/g, '')
  const isAnchored = pattern.startsWith('/') || path.includes('/')
  const parts = partsOf(isAnchored ? path : `**/${path}`)
  const last = parts.at(-1)
  if (last === '**') return parts.join('/')
  if (isFolder) return `${parts.join('/')}/**`
  return last === '*' && isAnchored ? parts.join('/') : `${parts.join('/')}{,/**}`
}

/** Without a slash in front a pattern begins anywhere. A folder is meant only by a slash at the end. */
function gitlabGlob(pattern: string): string {
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : `**/${pattern}`
  const parts = partsOf(anchored.endsWith('/') ? `${anchored}**/*` : anchored)
  return (parts.at(-1) === '**' ? [...parts.slice(0, -1), '*'] : parts).join('/')
}

/** Two asterisks have a meaning of their own only between slashes. */
function partsOf(path: string): string[] {
  const parts = path
    .split('/')
    .map((part) => (part === '**' ? part : escaped(part).replaceAll(/(?<!\\)\*{2,}/g, '*')))
  return parts.filter((part, index) => part !== '**' || parts[index - 1] !== '**')
}

const escaped = (part: string): string =>
  part.replaceAll(/\\.|[[\]{}]/gs, (found) => (found.startsWith('\\') ? found : `\\${found}`))
