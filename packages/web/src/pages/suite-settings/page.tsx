import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import { suiteQuery } from '../../api/resource-queries.ts'
import { Checkbox, SelectField, TextField } from '../../parts/Field.tsx'
import { Page } from '../../parts/Page.tsx'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import type { SuiteAddress } from '../suite/queries.ts'
import { updateSuite } from './queries.ts'
import { SuiteToken } from './SuiteToken.tsx'
import { DeleteSuite } from './DeleteSuite.tsx'
import { SuiteTeams } from './SuiteTeams.tsx'

type Suite = Answer<'GET /v2/organizations/{org}/suites/{suite}'>

/** A number is null while its field is empty. */
interface Settings extends Pick<
  Suite,
  'name' | 'flaky_on_same_commit' | 'flaky_transitions' | 'quarantine_rule'
> {
  default_branch: string
  flaky_window: number | null
  flaky_clear_days: number | null
  flaky_clear_executions: number | null
  quarantine_days: number | null
}

const from = '/organizations/$org/analytics/suites/$suite/settings'

export function SuiteSettingsPage() {
  const address = useParams({ from })
  const suite = useQuery(suiteQuery(address.org, address.suite))
  const organization = useQuery(organizationQuery(address.org))
  if (suite.data === undefined) return <NotLoaded query={suite} />
  if (suite.data.viewer?.may.manage !== true) {
    return (
      <Page title="Settings">
        <Empty title="You may not change this suite.">
          Administrators may, and the members of teams that manage it.
        </Empty>
      </Page>
    )
  }
  return (
    <Page title="Settings">
      <Fields address={address} suite={suite.data} />
      {organization.data?.viewer?.may.view_teams === true && (
        <SuiteTeams address={address} suiteId={suite.data.id} />
      )}
      <SuiteToken address={address} />
      <DeleteSuite address={address} name={suite.data.name} />
    </Page>
  )
}

function Fields({ address, suite }: { address: SuiteAddress; suite: Suite }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate({ from })
  const draft = useDraft<Settings>({
    name: suite.name,
    default_branch: suite.default_branch ?? '',
    flaky_on_same_commit: suite.flaky_on_same_commit,
    flaky_transitions: suite.flaky_transitions,
    flaky_window: suite.flaky_window,
    flaky_clear_days: suite.flaky_clear_days,
    flaky_clear_executions: suite.flaky_clear_executions,
    quarantine_rule: suite.quarantine_rule,
    quarantine_days: suite.quarantine_days,
  })
  const { fields, set } = draft
  const { flaky_window, flaky_clear_days, flaky_clear_executions, quarantine_days } = fields
  const numbers = { flaky_window, flaky_clear_days, flaky_clear_executions, quarantine_days }
  return (
    <SettingsForm
      draft={draft}
      problem={Object.values(numbers).includes(null) ? 'A number is missing.' : undefined}
      onSave={async ({ name, default_branch, flaky_on_same_commit, flaky_transitions, quarantine_rule }) => {
        const { slug } = await updateSuite(address, {
          ...given({ name, default_branch, flaky_on_same_commit, flaky_transitions, quarantine_rule }),
          ...changedNumbers(numbers, draft.changed),
        })
        await queryClient.invalidateQueries({ queryKey: keyOf('GET /v2/organizations/{org}/suites') })
        if (slug === address.suite) {
          await queryClient.invalidateQueries({ queryKey: suiteQuery(address.org, address.suite).queryKey })
        } else {
          // The address of a suite follows from its name.
          draft.discard()
          await navigate({ params: { ...address, suite: slug }, replace: true, ignoreBlocker: true })
        }
      }}
    >
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        pattern=".*[A-Za-z0-9].*"
        hint="A new name makes a new address for the suite and its tests."
        onValue={(name) => set({ name })}
      />
      <TextField
        label="Default branch"
        value={fields.default_branch}
        maxLength={255}
        hint="Its runs say which tests are broken or flaky, and CODEOWNERS of its newest commit who owns them."
        onValue={(branch) => set({ default_branch: branch })}
      />
      <FieldGroup label="Flaky tests">
        <Checkbox
          label="A test is flaky when it failed and passed with one commit"
          checked={fields.flaky_on_same_commit}
          onCheck={(isChecked) => set({ flaky_on_same_commit: isChecked })}
        />
      </FieldGroup>
      <NumberField
        label="Changes that make a test flaky"
        min={2}
        max={100}
        value={fields.flaky_transitions}
        placeholder="changes do not count"
        hint="So often it changed between passed and failed on the default branch. Empty: changes do not count."
        onValue={(value) => set({ flaky_transitions: value })}
      />
      <NumberField
        label="Runs in which changes are counted"
        min={3}
        max={100}
        value={flaky_window}
        onValue={(value) => set({ flaky_window: value })}
      />
      <NumberField
        label="Days without evidence until a test is no longer flaky"
        min={1}
        max={90}
        value={flaky_clear_days}
        onValue={(value) => set({ flaky_clear_days: value })}
      />
      <NumberField
        label="Executions without evidence until a test is no longer flaky"
        min={1}
        max={200}
        value={flaky_clear_executions}
        onValue={(value) => set({ flaky_clear_executions: value })}
      />
      <SelectField
        label="Tests that become flaky"
        value={fields.quarantine_rule ?? ''}
        hint="Broken tests are never put into quarantine by this rule."
        onValue={(value) => set({ quarantine_rule: ruleOf(value) })}
      >
        <option value="">stay as they are</option>
        <option value="muted">are muted</option>
        <option value="skipped">are skipped</option>
      </SelectField>
      <NumberField
        label="Days in quarantine by this rule"
        min={1}
        max={90}
        value={quarantine_days}
        onValue={(value) => set({ quarantine_days: value })}
      />
    </SettingsForm>
  )
}

const ruleOf = (value: string): Suite['quarantine_rule'] =>
  value === 'muted' || value === 'skipped' ? value : null

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** Without the fields that nobody has changed. */
const given = <Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>

function changedNumbers(
  numbers: Readonly<Record<string, number | null>>,
  changed: object,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(numbers).filter(
      (entry): entry is [string, number] => entry[0] in changed && entry[1] !== null,
    ),
  )
}
