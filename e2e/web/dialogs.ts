// Every dialog and menu: the address of its page, and what is clicked to open it.
import type { Page } from 'playwright-core'
import type { World } from './world.ts'

interface Opening {
  path: string
  /** The names of what is clicked, in order. */
  clicks: readonly string[]
}

const at = (path: string, ...clicks: string[]): Opening => ({ path, clicks })

export const dialogs = (world: World): Record<string, Opening> => ({
  'user-menu': at('/default', 'You and the settings of this browser'),
  'new-build': at('/default/web-app', 'New build'),
  'build-menu': at(world.failed, 'More about this build'),
  'build-cancel': at(world.waiting, 'Cancel'),
  'job-menu': at(world.failed, 'More about this job'),
  'budget-new': at('/organizations/default/insights', 'New budget'),
  'budget-edit': at('/organizations/default/insights', 'More about the budget of 🃏 Api', 'Change…'),
  'budget-delete': at('/organizations/default/insights', 'More about the budget of 🃏 Api', 'Delete…'),
  'pipeline-delete': at('/default/web-app/settings/danger', 'Delete…'),
  'start-agent': at(world.queue, 'Start an agent'),
  'queue-edit': at(world.queue, 'More about this queue', 'Edit…'),
  'queue-pause': at(world.queue, 'Pause dispatch…'),
  'agent-stop': at(world.agent, 'Stop…'),
  'token-new': at('/-/me/tokens', 'New token'),
  'token-revoke': at('/-/me/tokens', 'Revoke…'),
  'test-mute': at(world.test, 'Mute…'),
  'suite-new': at('/organizations/default/analytics/suites', 'New suite'),
  'suite-token': at(`${world.suite}/settings`, 'New token…'),
  'suite-delete': at(`${world.suite}/settings`, 'Delete…'),
  'sessions-end': at('/-/me/sessions', 'Sign out everywhere…'),
  'member-remove': at('/organizations/default/settings/members', 'Remove Ada with a name'),
  'account-new': at('/organizations/default/settings/service-accounts', 'New service account'),
  'account-tokens': at('/organizations/default/settings/service-accounts', 'Tokens of Release bot'),
  'account-edit': at('/organizations/default/settings/service-accounts', 'More about Release bot', 'Edit…'),
  'account-owners': at(
    '/organizations/default/settings/service-accounts',
    'More about Release bot',
    'Owners…',
  ),
  'account-delete': at(
    '/organizations/default/settings/service-accounts',
    'More about Release bot',
    'Delete…',
  ),
  'issuer-new': at('/organizations/default/settings/token-issuers', 'New trusted issuer'),
  'program-revoke': at('/organizations/default/settings/programs', 'Revoke An assistant'),
  invite: at('/organizations/default/settings/invitations', 'Invite people'),
  'invitation-revoke': at('/organizations/default/settings/invitations', 'Revoke…'),
  'team-new': at('/organizations/default/settings/teams', 'New team'),
  'teams-enable': at('/organizations/default/settings/teams', 'Turn teams on…'),
  'team-members': at(world.team, 'Add members…'),
  'team-pipelines': at(world.team, 'Add pipelines…'),
  'team-delete': at(world.team, 'Delete…'),
  'schedule-new': at('/default/web-app/settings/schedules', 'New schedule'),
  'trigger-new': at('/default/web-app/settings/triggers', 'New trigger'),
  'trigger-try': at('/default/web-app/settings/triggers', 'Try 🃏 Base image'),
  'trigger-deliveries': at('/default/web-app/settings/triggers', 'Deliveries of 🃏 Base image'),
  'pipeline-teams': at('/default/web-app/settings/access', 'Add teams…'),
  'cluster-new': at('/organizations/default/clusters', 'New cluster'),
  'cluster-delete': at(`${world.cluster}/settings`, 'Delete…'),
  'queue-new': at(world.cluster, 'New queue…'),
  'hosted-queue-new': at(world.hostedCluster, 'New queue…'),
  'agent-token-new': at(`${world.cluster}/tokens`, 'New token'),
  'secret-new': at(`${world.cluster}/secrets`, 'New secret'),
  'maintainers-people': at(`${world.cluster}/maintainers`, 'Add people…'),
  'rule-new': at('/organizations/default/settings/rules', 'New rule'),
  'template-new': at('/organizations/default/settings/templates', 'New template'),
  'connection-new': at('/organizations/default/settings/connections', 'New connection'),
  'service-delete': at(world.service, 'Delete…'),
  'audit-event': at('/organizations/default/settings/audit-log', 'Show Cluster updated'),
})

/** A phone shows one thing at a time: a job after it is chosen, and some buttons in a menu. */
export const onPhones = (world: World): Record<string, Opening> => ({
  ...dialogs(world),
  'build-cancel': at(world.waiting, 'More about this build', 'Cancel'),
  'job-menu': at(world.failed, 'Test 1 of 4', 'More about this job'),
})

/** Clicks through to the dialog or menu, and waits for it. */
export async function open(page: Page, clicks: readonly string[]): Promise<void> {
  for (const name of clicks) {
    const control = page
      .getByRole('button', { name })
      .or(page.getByRole('menuitem', { name }))
      .or(page.getByRole('link', { name }))
    await control.filter({ visible: true }).first().click()
  }
  await page.getByRole('dialog').or(page.getByRole('menu')).first().waitFor()
}
