// The public Terraform provider manages an organization: what it applies is what it finds again.
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import {
  aDataDirectory,
  aDirectory,
  clientOf,
  launch,
  startServer,
  type Ended,
  type Server,
} from './millrace.ts'

const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))

const program = inPath('terraform') ?? inPath('tofu')
const provider = process.env['MILLRACE_TEST_TERRAFORM_PROVIDER'] ?? inPath('terraform-provider-buildkite')

const lacks =
  program === undefined
    ? 'neither terraform nor tofu is installed'
    : provider === undefined
      ? 'terraform-provider-buildkite is neither installed nor named by MILLRACE_TEST_TERRAFORM_PROVIDER'
      : null

/** `phase` changes every resource that can be changed. */
const configuration = (userId: string, userUuid: string) => `
terraform {
  required_providers {
    buildkite = {
      source = "buildkite/buildkite"
    }
  }
}

variable "phase" {}

locals {
  first = var.phase == "first"
}

resource "buildkite_organization" "all" {
  allowed_api_ip_addresses = local.first ? ["127.0.0.0/8"] : ["127.0.0.0/8", "10.0.0.0/8"]
}

resource "buildkite_organization_banner" "all" {
  message = "Banner of the \${var.phase} phase"
}

resource "buildkite_cluster" "linux" {
  name        = "Linux"
  description = "Cluster of the \${var.phase} phase"
  emoji       = ":rocket:"
  color       = "#FFE0F1"
}

resource "buildkite_cluster_queue" "small" {
  cluster_id      = buildkite_cluster.linux.id
  key             = "small"
  description     = "Queue of the \${var.phase} phase"
  dispatch_paused = !local.first
}

resource "buildkite_cluster_queue" "large" {
  cluster_id = buildkite_cluster.linux.id
  key        = "large"
}

resource "buildkite_cluster_default_queue" "linux" {
  cluster_id = buildkite_cluster.linux.id
  queue_id   = local.first ? buildkite_cluster_queue.small.id : buildkite_cluster_queue.large.id
}

resource "buildkite_cluster_agent_token" "linux" {
  cluster_id           = buildkite_cluster.linux.id
  description          = "Token of the \${var.phase} phase"
  allowed_ip_addresses = ["10.0.0.0/8"]
}

resource "buildkite_cluster_secret" "deploy" {
  cluster_id  = buildkite_cluster.linux.uuid
  key         = "DEPLOY_KEY"
  value       = "secret of the \${var.phase} phase"
  description = "Secret of the \${var.phase} phase"
}

resource "buildkite_cluster_maintainer" "team" {
  cluster_uuid = buildkite_cluster.linux.uuid
  team_uuid    = local.first ? buildkite_team.web.uuid : null
  user_uuid    = local.first ? null : "${userUuid}"
}

resource "buildkite_team" "web" {
  name                          = "Web"
  description                   = "Team of the \${var.phase} phase"
  privacy                       = local.first ? "VISIBLE" : "SECRET"
  default_team                  = false
  default_member_role           = "MEMBER"
  members_can_create_pipelines  = local.first
  members_can_create_suites     = local.first
  members_can_create_registries = !local.first
}

resource "buildkite_team" "apps" {
  name                = "Apps"
  privacy             = "VISIBLE"
  default_team        = false
  default_member_role = "MAINTAINER"
}

resource "buildkite_team_member" "web" {
  team_id = buildkite_team.web.id
  user_id = "${userId}"
  role    = local.first ? "MEMBER" : "MAINTAINER"
}

resource "buildkite_pipeline_template" "deploy" {
  name          = "Deploy"
  configuration = "steps:\\n  - command: make \${var.phase}\\n"
  description   = "Template of the \${var.phase} phase"
  available     = !local.first
}

resource "buildkite_pipeline" "app" {
  name                       = "App"
  repository                 = "https://github.example.com/acme/app.git"
  cluster_id                 = buildkite_cluster.linux.id
  description                = "Pipeline of the \${var.phase} phase"
  steps                      = "steps:\\n  - command: make \${var.phase}\\n"
  tags                       = ["terraform", var.phase]
  default_timeout_in_minutes = local.first ? 30 : null
  cancel_intermediate_builds = local.first
  provider_settings = {
    trigger_mode        = "code"
    build_pull_requests = true
    build_tags          = local.first
    filter_enabled      = true
    filter_condition    = "build.branch == \\"\${var.phase}\\""
  }
}

resource "buildkite_pipeline" "deploy" {
  name       = "Deploy"
  repository = "https://github.example.com/acme/deploy.git"
  cluster_id = buildkite_cluster.linux.id
  steps      = "steps:\\n  - command: make deploy\\n"
}

resource "buildkite_pipeline_schedule" "nightly" {
  pipeline_id = buildkite_pipeline.app.id
  label       = "Nightly"
  cronline    = local.first ? "0 3 * * *" : "0 4 * * *"
  branch      = "main"
  message     = "Build of the \${var.phase} phase"
  env = {
    FULL = "true"
    TEXT = "phase \${var.phase}"
  }
}

resource "buildkite_pipeline_team" "app" {
  pipeline_id  = buildkite_pipeline.app.id
  team_id      = buildkite_team.web.id
  access_level = local.first ? "READ_ONLY" : "MANAGE_BUILD_AND_READ"
}

resource "buildkite_pipeline_webhook" "app" {
  pipeline_id = buildkite_pipeline.app.id
  repository  = buildkite_pipeline.app.repository
}

resource "buildkite_organization_rule" "deploys" {
  type        = "pipeline.trigger_build.pipeline"
  description = "Rule of the \${var.phase} phase"
  value = jsonencode({
    source_pipeline = buildkite_pipeline.app.uuid
    target_pipeline = buildkite_pipeline.deploy.uuid
    conditions      = ["build.branch == '\${var.phase}'"]
  })
}

resource "buildkite_test_suite" "browser" {
  name             = "Browser tests"
  default_branch   = local.first ? "main" : "trunk"
  emoji            = ":rocket:"
  color            = local.first ? "#FFE0F1" : "#BADA55"
  application_name = "App of the \${var.phase} phase"
  team_owner_id    = local.first ? buildkite_team.web.id : buildkite_team.apps.id
}

resource "buildkite_test_suite_team" "apps" {
  test_suite_id = buildkite_test_suite.unit.id
  team_id       = buildkite_team.apps.id
  access_level  = local.first ? "MANAGE_AND_READ" : "READ_ONLY"
}

resource "buildkite_test_suite" "unit" {
  name           = "Unit tests"
  default_branch = "main"
  team_owner_id  = buildkite_team.web.id
}

data "buildkite_cluster" "linux" {
  name       = "Linux"
  depends_on = [buildkite_cluster.linux]
}

data "buildkite_team" "web" {
  slug       = "web"
  depends_on = [buildkite_team.web]
}

data "buildkite_teams" "all" {
  depends_on = [buildkite_team.web, buildkite_team.apps]
}

data "buildkite_pipeline_template" "deploy" {
  name       = "Deploy"
  depends_on = [buildkite_pipeline_template.deploy]
}

data "buildkite_organization_rule" "deploys" {
  uuid = buildkite_organization_rule.deploys.uuid
}
`

/** Cannot be imported, so it stays in the state. */
const notImported = 'buildkite_cluster_agent_token'

interface Resource {
  mode: string
  type: string
  address: string
  values: Record<string, unknown>
}

/** As the documentation of each resource says. */
function importIdOf({ type, values }: Resource): string {
  const text = (name: string) => String(values[name])
  switch (type) {
    case 'buildkite_cluster_queue':
      return `${text('id')},${text('cluster_uuid')}`
    case 'buildkite_cluster_secret':
      return `${text('cluster_id')}/${text('id')}`
    case 'buildkite_cluster_maintainer':
      return `${text('cluster_uuid')}/${text('id')}`
    case 'buildkite_cluster_default_queue':
      return text('cluster_id')
    case 'buildkite_pipeline_webhook':
      return text('pipeline_id')
    default:
      return text('id')
  }
}

/** A source host that creates and deletes webhooks. */
async function aHost(): Promise<{ url: string; hooks: Set<string> }> {
  const hooks = new Set<string>()
  const host = createServer((request, response) => {
    request.resume()
    const id = request.url?.split('/').at(-1) ?? ''
    if (request.method === 'POST') {
      hooks.add('17')
      response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id":17}')
    } else {
      response.writeHead(hooks.delete(id) ? 204 : 404).end()
    }
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void host.close())
  const address = host.address()
  if (address === null || typeof address === 'string') throw new Error('The host has no port.')
  return { url: `http://127.0.0.1:${address.port}`, hooks }
}

async function aWorkspace(server: Server, userId: string, userUuid: string) {
  const [folder, imported] = [aDirectory(), aDirectory()]
  for (const place of [folder, imported])
    writeFileSync(join(place, 'main.tf'), configuration(userId, userUuid))
  writeFileSync(
    join(folder, 'terraform.rc'),
    `provider_installation {
      dev_overrides {
        "buildkite/buildkite" = "${dirname(provider ?? '')}"
      }
      direct {}
    }`,
  )
  const settings = {
    TF_CLI_CONFIG_FILE: join(folder, 'terraform.rc'),
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    BUILDKITE_GRAPHQL_URL: `${server.url}/v1/graphql`,
    BUILDKITE_REST_URL: server.url,
    BUILDKITE_API_TOKEN: server.token,
    BUILDKITE_ORGANIZATION_SLUG: 'default',
  }
  const run = (place: string, ...args: string[]): Promise<Ended> =>
    launch(program ?? '', [`-chdir=${place}`, ...args, '-no-color'], settings).ended
  const expectDone = async (place: string, ...args: string[]) => {
    const ended = await run(place, ...args)
    expect({ code: ended.code, errors: ended.stderr }).toEqual({ code: 0, errors: '' })
    return ended.stdout
  }
  return {
    folder,
    imported,
    apply: (phase: string) => expectDone(folder, 'apply', '-auto-approve', `-var=phase=${phase}`),
    destroy: (phase: string) => expectDone(folder, 'destroy', '-auto-approve', `-var=phase=${phase}`),
    /** Asserts that there is nothing to change. */
    async expectNoChanges(phase: string, place = folder) {
      const planned = await run(place, 'plan', '-detailed-exitcode', `-var=phase=${phase}`)
      expect({ ...planned, stdout: planned.code === 0 ? '' : planned.stdout }).toMatchObject({
        code: 0,
        stdout: '',
      })
    },
    async resources(): Promise<Resource[]> {
      const shown = JSON.parse((await run(folder, 'show', '-json')).stdout) as {
        values?: { root_module: { resources?: Resource[] } }
      }
      const found = shown.values?.root_module.resources ?? []
      return found.filter(({ mode }) => mode === 'managed')
    },
    /** Imports these resources into an empty state, and returns what the plan says. */
    async import(resources: readonly Resource[], phase: string): Promise<string> {
      const blocks = resources.map(
        (resource) => `import {\n  to = ${resource.address}\n  id = "${importIdOf(resource)}"\n}\n`,
      )
      writeFileSync(join(imported, 'imports.tf'), blocks.join('\n'))
      return expectDone(imported, 'apply', '-auto-approve', `-var=phase=${phase}`)
    },
  }
}

/** The names of what Terraform created and deleted. */
const everything = (get: Server['get']) =>
  Promise.all(
    ['pipelines', 'clusters', 'teams', 'rules', 'suites', 'banners', 'pipeline-templates'].map(
      async (name) => (await get(`/v2/organizations/default/${name}`)).body,
    ),
  )

describe('the Terraform provider', () => {
  needing('programs', lacks).it('applies, finds no difference, changes, imports and destroys', async () => {
    const server = await startServer({
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
    })
    const host = await aHost()
    const { get, post } = clientOf(server)
    await post('/v2/organizations/default/repository_connections', {
      type: 'github',
      url: 'https://github.example.com',
      api_url: host.url,
      token: 'the-token-of-the-host',
    })
    const { body: user } = await get('/v2/user')
    const space = await aWorkspace(server, String(user['graphql_id']), String(user['id']))

    const before = await everything(get)

    await space.apply('first')
    await space.expectNoChanges('first')
    expect(host.hooks).toEqual(new Set(['17']))
    const kinds = new Set((await space.resources()).map(({ type }) => type))
    expect(kinds.size).toBe(18)

    await space.apply('second')
    await space.expectNoChanges('second')

    const importable = (await space.resources()).filter(({ type }) => type !== notImported)
    // The token is created. The provider compares neither the value of the secret nor the slugs of the two pipelines.
    expect(await space.import(importable, 'second')).toContain(
      `Plan: ${importable.length} to import, 1 to add, 3 to change, 0 to destroy.`,
    )
    await space.expectNoChanges('second', space.imported)

    await space.destroy('second')
    expect(await space.resources()).toEqual([])
    expect(host.hooks).toEqual(new Set())
    expect(await everything(get)).toEqual(before)
  })
})
