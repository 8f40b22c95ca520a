// Resolves a request body to the columns of a pipeline. Create and update share it, so both refuse the same input.
import type { Caller, Organization } from '../../../auth/caller.ts'
import { mayManageCluster } from '../../../auth/permissions.ts'
import { mayCreatePipelines } from '../../../auth/pipeline-access.ts'
import type { Trx } from '../../../db/pool.ts'
import { forbidden, invalidFields, type FieldError } from '../../../lib/errors.ts'
import type { Owner } from '../../../lib/holdings.ts'
import { isUuid } from '../../../lib/ids.ts'
import * as clusters from '../../clusters/clusters/queries.ts'
import * as pipelineSettings from '../pipeline-settings/queries.ts'
import * as templates from '../pipeline-templates/queries.ts'
import * as connections from '../repository_connections/queries.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { problemsOf } from '../configuration-problems.ts'
import { checkConfiguration, isStepList, writeSteps } from './configuration.ts'
import { checkSettings, providerOf, changedSettings } from '../../../source-hosts/settings.ts'
import type { PipelineFields } from './queries.ts'
import {
  checkJunitArtifacts,
  checkMirrorUrl,
  checkTimeouts,
  readEnv,
  readPlainFields,
  slugOf,
} from './rules.ts'
import type { CreatePipelineBody, UpdatePipelineBody } from './schema.ts'

export async function resolveNewFields(
  trx: Trx,
  org: Organization,
  caller: Caller,
  body: CreatePipelineBody,
): Promise<PipelineFields> {
  const settings = await pipelineSettings.getOfOrg(trx, org.id)
  const blank = {
    ...newPipeline,
    name: body.name,
    repository: body.repository,
    default_branch: settings.default_branch ?? 'main',
  }
  const cluster_id = body.cluster_id
    ? await enterCluster(trx, org, caller, body.cluster_id)
    : await getDefaultCluster(trx, org)
  return resolveFields(trx, org, caller, null, { ...blank, cluster_id }, body)
}

export async function resolveUpdatedFields(
  trx: Trx,
  org: Organization,
  caller: Caller,
  before: PipelineFields,
  body: UpdatePipelineBody,
): Promise<PipelineFields> {
  const cluster_id = await changedCluster(trx, org, caller, before.cluster_id, body)
  return resolveFields(trx, org, caller, before, { ...before, cluster_id }, body)
}

const newPipeline: Omit<PipelineFields, 'name' | 'repository'> = {
  cluster_id: null,
  pipeline_template_id: null,
  slug: '',
  description: '',
  clone_mirror_url: null,
  default_branch: 'main',
  configuration: '',
  env: {},
  branch_configuration: null,
  skip_queued_branch_builds: false,
  skip_queued_branch_builds_filter: null,
  cancel_running_branch_builds: false,
  cancel_running_branch_builds_filter: null,
  allow_rebuilds: true,
  default_command_step_timeout: null,
  maximum_command_step_timeout: null,
  visibility: 'private',
  tags: [],
  emoji: null,
  color: null,
  poll_interval_seconds: null,
  junit_artifacts: null,
  provider_id: 'private',
  provider_settings: {},
}

async function resolveFields(
  trx: Trx,
  org: Organization,
  caller: Caller,
  before: PipelineFields | null,
  base: PipelineFields,
  body: UpdatePipelineBody,
): Promise<PipelineFields> {
  const template = await readTemplate(trx, org, base.pipeline_template_id, body.pipeline_template_uuid)
  const plain = { ...base, ...readPlainFields(body) }
  const fields: PipelineFields = {
    ...plain,
    slug: readSlug(before, plain.name, body.slug),
    default_branch: body.default_branch || base.default_branch,
    pipeline_template_id: template?.id ?? null,
    configuration: await readConfiguration(
      { organizationId: org.id, sender: caller.user.id },
      before,
      body,
      template,
    ),
    provider_id: await readProvider(trx, org, plain.repository),
    provider_settings: changedSettings(base.provider_settings, body.provider_settings ?? {}),
  }
  // YAML contains its own variables.
  const env = body.env === undefined ? base.env : readEnv(body.env)
  fields.env = isStepList(fields.configuration) ? env : {}
  const problems = [
    ...checkSettings(body.provider_settings ?? {}),
    ...checkTimeouts(fields),
    ...checkMirrorUrl(fields.clone_mirror_url),
    ...checkJunitArtifacts(fields.junit_artifacts),
    ...(await checkVisibility(trx, org, before, fields)),
  ]
  if (problems.length > 0) throw invalidFields(problems)
  return fields
}

async function readProvider(trx: Trx, org: Organization, repository: string): Promise<string> {
  const connection = await connections.findOfRepository(trx, org.id, repository)
  return connection === undefined
    ? providerOf(repository)
    : hostOfType(connection.type).providerOf(connection.host)
}

/** A new name without a slug makes a new slug; repeating the old name does not. */
function readSlug(before: PipelineFields | null, name: string, given: string | null | undefined): string {
  if (given) return given
  if (before?.name === name) return before.slug
  const slug = slugOf(name)
  if (slug !== '') return slug
  throw invalidFields([{ field: 'slug', code: 'cannot be made from the name; give one' }])
}

async function readConfiguration(
  owner: Owner,
  before: PipelineFields | null,
  body: UpdatePipelineBody,
  template: templates.HeldTemplate | null,
): Promise<string> {
  const given = body.configuration?.trim() ? body.configuration : undefined
  if (template !== null) {
    const isOther = given !== undefined && given !== before?.configuration && given !== template.configuration
    if (isOther) throw wrongSteps('configuration', ['comes from the template; unassign it to give another'])
    return template.configuration
  }
  if (given !== undefined) return readable(owner, given, before)
  const isEmptied = before !== null && typeof body.configuration === 'string'
  if (body.steps && !isEmptied) return fromSteps(owner, before, body.steps)
  if (before !== null && !isEmptied) return before.configuration
  throw wrongSteps('configuration', [missingSteps])
}

async function readable(owner: Owner, configuration: string, before: PipelineFields | null): Promise<string> {
  if (configuration === before?.configuration) return configuration
  const problems = await checkConfiguration(configuration, owner)
  if (problems.length > 0) throw invalidFields(problems)
  return configuration
}

async function fromSteps(
  owner: Owner,
  before: PipelineFields | null,
  steps: NonNullable<UpdatePipelineBody['steps']>,
): Promise<string> {
  if (before !== null && !isStepList(before.configuration)) {
    throw wrongSteps('steps', [
      'cannot be changed alone: this pipeline is written in YAML; give configuration',
    ])
  }
  const configuration = writeSteps(steps)
  const problems = await problemsOf(configuration, owner)
  if (problems.length > 0) throw wrongSteps('steps', problems)
  return configuration
}

const missingSteps = `Step configuration is missing, expected YAML with a list of steps. \
These two lines run the steps in the repository's own .buildkite/pipeline.yml:
steps:
  - command: buildkite-agent pipeline upload`

const wrongSteps = (field: 'configuration' | 'steps', codes: readonly string[]) =>
  invalidFields(codes.map((code): FieldError => ({ field, code })))

async function checkVisibility(
  trx: Trx,
  org: Organization,
  before: PipelineFields | null,
  fields: PipelineFields,
): Promise<FieldError[]> {
  if (fields.visibility === 'private' || before?.visibility === 'public') return []
  const { public_pipelines_enabled_at: enabledAt } = await pipelineSettings.getOfOrg(trx, org.id)
  if (enabledAt !== null) return []
  return [{ field: 'visibility', code: 'cannot be public: the organization does not allow public pipelines' }]
}

/**
 * A pipeline's jobs can read the secrets of its cluster, so only those who manage the cluster may add pipelines to it.
 * Everyone who may create pipelines may use the default cluster.
 */
async function enterCluster(trx: Trx, org: Organization, caller: Caller, given: string): Promise<string> {
  const id = given.toLowerCase()
  if (!isUuid(id) || !(await clusters.holdInOrg(trx, org.id, id))) {
    throw invalidFields([{ field: 'cluster_id', code: 'is not the id of a cluster of this organization' }])
  }
  if (await mayManageCluster(trx, org, caller, id)) return id
  const isOpen = (await findDefaultCluster(trx, org)) === id && (await mayCreatePipelines(trx, org, caller))
  if (isOpen) return id
  throw forbidden('Only administrators and maintainers of the cluster may put pipelines into it')
}

async function getDefaultCluster(trx: Trx, org: Organization): Promise<string> {
  const id = await findDefaultCluster(trx, org)
  if (id !== null && (await clusters.holdInOrg(trx, org.id, id))) return id
  throw invalidFields([{ field: 'cluster_id', code: 'is required: the organization has no default cluster' }])
}

/** The organization's setting, or its only cluster. */
async function findDefaultCluster(trx: Trx, org: Organization): Promise<string | null> {
  const { default_cluster_id: chosen } = await pipelineSettings.getOfOrg(trx, org.id)
  if (chosen !== null) return chosen
  const [only, another] = await clusters.listInOrg(trx, org.id, { limit: 2, offset: 0 })
  return only !== undefined && another === undefined ? only.id : null
}

async function changedCluster(
  trx: Trx,
  org: Organization,
  caller: Caller,
  current: string | null,
  { cluster_id: wanted }: UpdatePipelineBody,
): Promise<string | null> {
  if (wanted === undefined || wanted?.toLowerCase() === current) return current
  return wanted ? enterCluster(trx, org, caller, wanted) : null
}

/** Members may use available templates, and keep the one that the pipeline has. */
async function readTemplate(
  trx: Trx,
  org: Organization,
  current: string | null,
  wanted: string | null | undefined,
): Promise<templates.HeldTemplate | null> {
  const id = wanted === undefined ? current : wanted
  if (!id) return null
  const template = isUuid(id) ? await templates.holdInOrg(trx, org.id, id) : undefined
  if (template !== undefined && (template.available || org.role === 'admin' || id === current))
    return template
  throw invalidFields([{ field: 'pipeline_template_uuid', code: 'is not a template that you may use' }])
}
