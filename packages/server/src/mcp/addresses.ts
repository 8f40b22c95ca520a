// Finds the build or job that a person means: by an address pasted from a browser, by names, or the newest of a branch.
import { Type } from 'typebox'
import { ApiError, badRequest } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { Desk, RouteName } from './tool.ts'

const Organization = Type.Optional(
  Type.String({ description: 'Slug of the organization. Not needed if the token reaches only one.' }),
)

export const OrganizationInput = { organization: Organization }

export const PipelineInput = {
  organization: Organization,
  pipeline: Type.Optional(Type.String({ description: 'Slug of the pipeline, or its web address.' })),
}

export const BuildInput = {
  ...PipelineInput,
  build: Type.Optional(
    Type.Union([Type.String(), Type.Integer()], {
      description:
        'Web address of the build, such as https://HOST/ORG/PIPELINE/builds/12; or its number, with `pipeline`. Default: the newest build of the pipeline.',
    }),
  ),
  branch: Type.Optional(Type.String({ description: 'Instead of `build`: the newest build of this branch.' })),
}

export const JobInput = {
  organization: Organization,
  job: Type.String({
    description: 'UUID of the job, or its web address: https://HOST/ORG/PIPELINE/builds/12#UUID',
  }),
}

type BuildAddress = { org: string; pipeline: string; build: string }

/** The URL of a build. */
export const inBuild = '/v2/organizations/:org/pipelines/:pipeline/builds/:build'

const organizations: RouteName = 'GET /v2/organizations'
const builds: RouteName = 'GET /v2/organizations/:org/pipelines/:pipeline/builds'
/** The routes that finding an address may call. A caller who names everything needs no scope for them. */
export const addressRoutes = [organizations, builds] as const

export async function findOrganization(desk: Desk, slug: string | undefined): Promise<string> {
  if (slug !== undefined && slug !== '') return slug
  const { body } = await desk.call(organizations, { query: { per_page: '2' } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 403)
      throw badRequest(
        'Name the organization in `organization`, or use a token with the scope read_organizations.',
      )
    throw error
  })
  const found = (body as Array<{ slug: string }>).map((organization) => organization.slug)
  const [only] = found
  if (only === undefined) throw badRequest('The token reaches no organization.')
  if (found.length > 1)
    throw badRequest(
      'The token reaches several organizations. Name one in `organization`; list_organizations has them.',
    )
  return only
}

export async function findPipeline(
  desk: Desk,
  given: { organization?: string; pipeline?: string },
): Promise<{ org: string; pipeline: string }> {
  const address = readAddress(desk, given.pipeline)
  if (address?.pipeline !== undefined) return { org: address.org, pipeline: address.pipeline }
  if (given.pipeline === undefined || given.pipeline === '')
    throw badRequest('Name the pipeline in `pipeline`, or paste the address of a build into `build`.')
  return { org: await findOrganization(desk, given.organization), pipeline: given.pipeline }
}

export async function findBuild(
  desk: Desk,
  { build, ...given }: { organization?: string; pipeline?: string; build?: string | number; branch?: string },
): Promise<BuildAddress> {
  // A model may send an absent value as an empty text.
  const named = build === undefined || build === '' ? undefined : String(build).replace(/^#/, '')
  const address = readAddress(desk, named) ?? readAddress(desk, given.pipeline)
  if (address?.pipeline !== undefined && address.build !== undefined)
    return { org: address.org, pipeline: address.pipeline, build: address.build }
  if (named !== undefined && !/^\d+$/.test(named))
    throw badRequest('`build` is neither a number nor the web address of a build.')
  const pipeline = await findPipeline(desk, given)
  if (named !== undefined) return { ...pipeline, build: named }
  const { body } = await desk.call(builds, {
    params: pipeline,
    query: {
      per_page: '1',
      exclude_jobs: 'true',
      exclude_pipeline: 'true',
      branch: given.branch,
    },
  })
  const [newest] = body as Array<{ number: number }>
  if (newest === undefined)
    throw badRequest(
      given.branch
        ? `The pipeline has no build of the branch ${given.branch}.`
        : 'The pipeline has no build.',
    )
  return { ...pipeline, build: String(newest.number) }
}

export async function findJob(
  desk: Desk,
  given: { organization?: string; job: string },
): Promise<{ org: string; job: string }> {
  const address = readAddress(desk, given.job)
  if (address?.job !== undefined) return { org: address.org, job: address.job }
  if (!isUuid(given.job)) throw badRequest('`job` is neither a UUID nor the web address of a job.')
  return { org: await findOrganization(desk, given.organization), job: given.job }
}

interface Address {
  org: string
  pipeline?: string
  build?: string
  job?: string
}

/** null: the text is no address. Addresses of other installations are refused, because names there mean other things. */
function readAddress({ ctx }: Desk, text: string | undefined): Address | null {
  if (text === undefined || !/^https?:\/\//i.test(text)) return null
  if (!URL.canParse(text)) throw badRequest('The address cannot be read.')
  const { origin, pathname, hash } = new URL(text)
  if (origin !== new URL(ctx.config.url).origin)
    throw badRequest(`The address is not one of this installation, which is at ${ctx.config.url}.`)
  const inApi =
    /^\/v2\/organizations\/([^/]+)(?:\/pipelines\/([^/]+))?(?:\/builds\/([^/]+))?(?:\/jobs\/([^/]+))?/
  const onPage = /^\/([^/]+)(?:\/([^/]+))?(?:\/builds\/([^/]+))?()/
  const [, org, pipeline, build, job] = (inApi.exec(pathname) ?? onPage.exec(pathname) ?? []).map((part) =>
    part === undefined || part === '' ? undefined : decodeURIComponent(part),
  )
  if (org === undefined) throw badRequest('The address names no organization.')
  const fragment = /^#([0-9a-f-]{36})(?:\/|$)/i.exec(hash)?.[1]
  return {
    org,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(build === undefined ? {} : { build }),
    ...((job ?? fragment) === undefined ? {} : { job: job ?? fragment ?? '' }),
  }
}
