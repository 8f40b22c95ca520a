// Creates and updates pipelines.
import type { CreatePipeline, Pipeline, UpdatePipeline } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { git } from '../../run/checkout.ts'
import { readPipelineFile } from '../../run/pipeline-file.ts'
import { Refused } from '../../refused.ts'
import { openApi, type Api } from '../api.ts'
import { findCluster } from '../cluster.ts'
import type { ClientOptions } from '../command.ts'
import { findTarget } from '../find-target.ts'
import { connectPipeline, findRepository } from './connect.ts'
import { oneLine } from '../text.ts'

export interface SaveOptions extends ClientOptions {
  file?: string
  name?: string
  slug?: string
  repository?: string
  description?: string
  defaultBranch?: string
  cluster?: string
}

/** The first step of a build then takes the steps from the commit that is built. */
const UPLOAD_STEPS = 'steps:\n  - label: ":pipeline:"\n    command: buildkite-agent pipeline upload\n'

export interface CreateOptions extends SaveOptions {
  connect?: true
  wait?: number
}

export async function createPipeline(name: string, options: CreateOptions): Promise<void> {
  const given = options.repository ?? (await git(process.cwd(), 'remote', 'get-url', 'origin')) ?? undefined
  if (given === undefined) {
    throw new Refused('This folder has no git repository with a remote: name one with --repository.')
  }
  const configuration = options.file === undefined ? UPLOAD_STEPS : await readFile(options.file)
  const api = await openApi(options)
  const found = options.connect === true ? await findRepository(api, given) : null
  const cluster = options.cluster === undefined ? undefined : await findCluster(api, options.cluster)
  const body: CreatePipeline = {
    name,
    repository: found?.clone_url ?? given,
    configuration,
    ...(found === null || found.default_branch === null ? {} : { default_branch: found.default_branch }),
    ...fieldsOf(options),
    ...(cluster === undefined ? {} : { cluster_id: cluster.id }),
  }
  const pipeline = await api.post<Pipeline>('pipelines', body)
  const text =
    `Created the pipeline ${oneLine(pipeline.slug)}: ${oneLine(pipeline.web_url)}` +
    (options.file === undefined
      ? '\nIts builds take their steps from .buildkite/pipeline.yml of the commit.'
      : '')
  if (found === null) print(options, pipeline, text)
  else await connect(api, pipeline, text, options)
}

/** Prints what happens as it happens; with --json one value at the end. */
async function connect(api: Api, pipeline: Pipeline, created: string, options: CreateOptions): Promise<void> {
  const say = (text: string) => {
    if (!options.json) console.log(text)
  }
  say(created)
  const { health, text, isGood } = await connectPipeline(api, pipeline.slug, {
    seconds: options.wait ?? 60,
    say,
  })
  if (options.json) console.log(JSON.stringify({ ...pipeline, repository_health: health }))
  if (!isGood) throw new Refused(text)
  say(text)
}

export async function updatePipeline(given: string | undefined, options: SaveOptions): Promise<void> {
  const configuration = options.file === undefined ? undefined : await readFile(options.file)
  const api = await openApi(options)
  const { pipeline: slug } = await findTarget(api, { pipeline: given })
  const cluster = options.cluster === undefined ? undefined : await findCluster(api, options.cluster)
  const body: UpdatePipeline = {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.repository === undefined ? {} : { repository: options.repository }),
    ...(configuration === undefined ? {} : { configuration }),
    ...fieldsOf(options),
    ...(cluster === undefined ? {} : { cluster_id: cluster.id }),
  }
  if (Object.keys(body).length === 0) {
    throw new Refused('Nothing is to be changed: give --file or another option with a new value.')
  }
  const pipeline = await api.patch<Pipeline>(`pipelines/${encodeURIComponent(slug)}`, body)
  print(options, pipeline, `Updated the pipeline ${oneLine(pipeline.slug)}: ${oneLine(pipeline.web_url)}`)
}

async function readFile(name: string): Promise<string> {
  const { text } = await readPipelineFile({ name, cwd: process.cwd(), input: process.stdin })
  return text
}

function fieldsOf({ slug, description, defaultBranch }: SaveOptions) {
  return {
    ...(slug === undefined ? {} : { slug }),
    ...(description === undefined ? {} : { description }),
    ...(defaultBranch === undefined ? {} : { default_branch: defaultBranch }),
  }
}
