// Finds the pipeline, branch and commit that a command is about: from its flags, or from the git repository that the user
// stands in.
import { resolve } from 'node:path'
import type { Pipeline } from '@millrace/server/wire.ts'
import { git } from '../run/checkout.ts'
import { Refused } from '../refused.ts'
import type { Api } from './api.ts'
import { repositoryKey } from './repository-key.ts'
import { oneLine } from './text.ts'

interface Given {
  pipeline?: string | undefined
  branch?: string | undefined
  commit?: string | undefined
}

interface Target {
  /** The slug. */
  pipeline: string
  /** null: outside a repository, or a detached HEAD. */
  branch: string | null
  /** The full hash; null: outside a repository, or without a commit. */
  commit: string | null
  /** The message of the commit, unless another one was given. */
  message: string | null
}

export async function findTarget(api: Api, given: Given, folder = process.cwd()): Promise<Target> {
  const checkout = await findHere(folder)
  const pipeline = given.pipeline ?? (await findPipeline(api, checkout))
  const isHere = given.commit === undefined || given.commit === checkout?.commit
  return {
    pipeline,
    branch: given.branch ?? checkout?.branch ?? null,
    commit: given.commit ?? checkout?.commit ?? null,
    message: isHere ? (checkout?.message ?? null) : null,
  }
}

/** The repository of the folder; null: it is in none. */
interface Here {
  root: string
  branch: string | null
  commit: string | null
  message: string | null
  /** As git uses them and as they are written; those of origin first. */
  remotes: string[]
}

async function findHere(folder: string): Promise<Here | null> {
  const root = await git(folder, 'rev-parse', '--show-toplevel')
  if (root === null || root === '') return null
  const [branch, commit, message, used, written] = await Promise.all([
    git(root, 'symbolic-ref', '--short', '--quiet', 'HEAD'),
    git(root, 'rev-parse', '--verify', '--quiet', 'HEAD'),
    git(root, 'log', '-1', '--format=%B'),
    git(root, 'remote', '--verbose'),
    git(root, 'config', '--get-regexp', String.raw`^remote\..*\.url$`),
  ])
  const pairs = [
    ...parseLines(used, /^(\S+)\t(.*) \((?:fetch|push)\)/),
    ...parseLines(written, /^remote\.(.*)\.url (.*)$/),
  ]
  const isOrigin = ([name]: readonly [string, string]) => name === 'origin'
  const ordered = [...pairs.filter(isOrigin), ...pairs.filter((pair) => !isOrigin(pair))]
  return { root, branch, commit, message, remotes: [...new Set(ordered.map(([, url]) => url))] }
}

function parseLines(text: string | null, pattern: RegExp): Array<readonly [string, string]> {
  return (text ?? '').split('\n').flatMap((line) => {
    const [, name, url] = pattern.exec(line) ?? []
    return name === undefined || url === undefined ? [] : [[name, url] as const]
  })
}

async function findPipeline(api: Api, here: Here | null): Promise<string> {
  if (here === null) {
    throw new Refused('This folder is in no git repository: name the pipeline with --pipeline.')
  }
  if (here.remotes.length === 0) {
    throw new Refused(`The repository ${here.root} has no remote: name the pipeline with --pipeline.`)
  }
  const tried = new Set<string>()
  for (const remote of here.remotes) {
    const key = repositoryKey(remote, (path) => resolve(here.root, path))
    if (tried.has(key)) continue
    tried.add(key)
    const slugs = await listPipelinesOf(api, key)
    if (slugs.length > 1) {
      throw new Refused(
        `Several pipelines build this repository: ${slugs.map(oneLine).join(', ')}. Name the one you mean.`,
      )
    }
    if (slugs[0] !== undefined) return slugs[0]
  }
  throw new Refused(
    `No pipeline of ${api.org} builds ${[...tried].join(' or ')}: name one with --pipeline, ` +
      'or look at millrace pipeline list.',
  )
}

/** The server compares parts of URLs, so it is asked for the last part, which all spellings share. */
async function listPipelinesOf(api: Api, key: string): Promise<string[]> {
  const name = key.slice(key.lastIndexOf('/') + 1)
  const slugs: string[] = []
  for await (const { slug, repository } of api.pages<Pipeline>(
    `pipelines?repository=${encodeURIComponent(name)}`,
  )) {
    if (repositoryKey(repository, (path) => path) === key) slugs.push(slug)
  }
  return slugs
}
