import { useQueryClient } from '@tanstack/react-query'
import { Checkbox, TextField } from '../../parts/Field.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { GroupTeams } from './GroupTeams.tsx'
import { ssoQuery, updateSso, type Sso } from './queries.ts'

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean)

export function SsoForm({ org, stored }: { org: string; stored: Sso }) {
  const queryClient = useQueryClient()
  const isNew = stored.issuer === null
  const draft = useDraft({
    issuer: stored.issuer ?? '',
    client_id: stored.client_id ?? '',
    client_secret: '',
    scopes: stored.scopes.join(' '),
    groups_claim: stored.groups_claim,
    group_teams: stored.group_teams,
    email_domains: stored.email_domains.join(' '),
    provision: stored.provision,
    sso_required: stored.sso_required,
    // What is set up for the first time is tried before it admits anybody.
    enabled: stored.enabled,
  })
  const { fields, changed, set } = draft
  const save = async () => {
    const { scopes, email_domains: domains, ...rest } = changed
    await updateSso(org, {
      ...rest,
      ...(isNew ? { enabled: fields.enabled } : {}),
      ...(scopes === undefined ? {} : { scopes: words(scopes) }),
      ...(domains === undefined ? {} : { email_domains: words(domains) }),
    })
    await queryClient.invalidateQueries({ queryKey: ssoQuery(org).queryKey })
  }
  return (
    <SettingsForm
      draft={draft}
      onSave={save}
      problem={
        changed.issuer !== undefined && fields.client_secret === ''
          ? 'A new provider needs its client secret.'
          : undefined
      }
    >
      <TextField
        label="Address of the provider"
        type="url"
        value={fields.issuer}
        required
        placeholder="https://login.example.com"
        hint="Its issuer, as its tokens name it."
        onValue={(issuer) => set({ issuer })}
      />
      <TextField
        label="Client id"
        value={fields.client_id}
        required
        maxLength={255}
        onValue={(id) => set({ client_id: id })}
      />
      <TextField
        label="Client secret"
        type="password"
        autoComplete="off"
        value={fields.client_secret}
        required={isNew}
        hint={isNew ? 'It is never shown again.' : 'Empty: it stays as it is.'}
        onValue={(secret) => set({ client_secret: secret })}
      />
      <TextField
        label="Scopes"
        value={fields.scopes}
        hint="What the provider is asked for, separated by spaces."
        onValue={(scopes) => set({ scopes })}
      />
      <TextField
        label="Trusted domains of addresses"
        value={fields.email_domains}
        placeholder="example.com"
        hint="Their addresses count as verified, even if the provider does not say so."
        onValue={(domains) => set({ email_domains: domains })}
      />
      <TextField
        label="Claim with the groups"
        value={fields.groups_claim}
        required
        maxLength={255}
        onValue={(claim) => set({ groups_claim: claim })}
      />
      <GroupTeams org={org} value={fields.group_teams} onChange={(value) => set({ group_teams: value })} />
      <Checkbox
        label="People without an invitation become members by signing in"
        checked={fields.provision}
        onCheck={(isChecked) => set({ provision: isChecked })}
      />
      <Checkbox
        label="Members can sign in with it"
        checked={fields.enabled}
        onCheck={(isChecked) => set({ enabled: isChecked })}
      />
      <Checkbox
        label="Every member must sign in with it. Otherwise only those for whom it is required."
        checked={fields.sso_required}
        onCheck={(isChecked) => set({ sso_required: isChecked })}
      />
    </SettingsForm>
  )
}
