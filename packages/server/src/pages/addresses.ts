// The addresses of the web interface, as packages/web/src/routes.tsx has them. An address that is not listed answers 404, with
// the same shell, which then says so.
const organization = '/organizations/[\\w-]+'
const cluster = `${organization}/clusters/[\\w-]+`

const settings = [
  'general',
  'members',
  'invitations',
  'service-accounts',
  'token-issuers',
  'programs',
  'teams',
  'sso',
  'api',
  'pipelines',
  'templates',
  'connections',
  'services',
  'retention',
  'audit-log',
  'rules',
  'archive',
]

const pipelineSettings = [
  'general',
  'steps',
  'repository',
  'builds',
  'schedules',
  'triggers',
  'access',
  'notifications',
  'badges',
  'retention',
  'caches',
  'danger',
]

const patterns = [
  '/',
  '/-/start',
  '/-/me(?:/tokens|/programs|/sessions)?',
  '/-/installation',
  `${organization}/(?:start|builds|insights|log-search|agents|clusters|pipelines/new)`,
  `${organization}/analytics/suites(?:/[\\w-]+(?:/settings|/tests/[\\w-]+)?)?`,
  `${organization}/settings(?:/(?:${settings.join('|')}))?`,
  `${organization}/settings/teams/[\\w-]+`,
  `${organization}/settings/services/[\\w-]+(?:/deliveries/[\\w-]+)?`,
  `${cluster}(?:/(?:tokens|secrets|maintainers|agent_images|cache_volumes|settings))?`,
  `${cluster}/queues/[\\w-]+`,
  `${cluster}(?:/queues/[\\w-]+)?/agents/[\\w-]+`,
  `${cluster}/agent_images/[\\w-]+`,
  `${organization}/pipeline-templates/[\\w-]+`,
  '/(?!organizations/|-/)[\\w-]+(?:/[\\w-]+)?',
  '/(?!organizations/|-/)[\\w-]+/[\\w-]+/(?:builds/\\d+|archived_builds)',
  `/(?!organizations/|-/)[\\w-]+/[\\w-]+/settings(?:/(?:${pipelineSettings.join('|')}))?`,
]

const address = new RegExp(`^(?:${patterns.join('|')})/?$`)

export const isPageAddress = (path: string): boolean => path !== '/organizations' && address.test(path)
