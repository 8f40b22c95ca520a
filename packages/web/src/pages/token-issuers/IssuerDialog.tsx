import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import { showLabel } from '../../parts/labels.ts'
import { showToast } from '../../parts/toasts/toasts.ts'
import { accountScopes } from '../me/scopes.ts'
import { ScopeChoice } from '../me/ScopeChoice.tsx'
import { accountsQuery } from '../service-accounts/queries.ts'
import { readClaims, writeClaims } from './claims.ts'
import { readKeys, writeKeys } from './keys.ts'
import { createIssuer, issuersQuery, updateIssuer, type IssuerScope, type TokenIssuer } from './queries.ts'

interface Props {
  org: string
  /** null: a new one. */
  issuer: TokenIssuer | null
  onClose: () => void
}

const formOf = (issuer: TokenIssuer | null) => ({
  issuer: issuer?.issuer ?? '',
  account: issuer?.service_account.id ?? '',
  claims: writeClaims(issuer?.claims ?? {}),
  scopes: accountScopes.filter((scope) => issuer?.scopes.includes(scope)) as readonly IssuerScope[],
  minutes: issuer?.most_minutes ?? 60,
  audience: issuer?.audience ?? '',
  keys: writeKeys(issuer?.jwks ?? null),
})

/** Trusts an authority, or changes what is believed of it. */
export function IssuerDialog({ org, issuer, onClose }: Props) {
  const queryClient = useQueryClient()
  const [key, setKey] = useState(newKey)
  const [fields, setFields] = useState(() => formOf(issuer))
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const accounts = useInfiniteQuery(accountsQuery(org)).data?.pages.flatMap(({ rows }) => rows) ?? []
  const claims = readClaims(fields.claims)
  const keys = readKeys(fields.keys)
  const save = useMutation({
    async mutationFn() {
      if (typeof claims === 'string') throw new Error(claims)
      if (keys === undefined) throw new Error('The keys are no JSON Web Key Set.')
      const body = {
        issuer: fields.issuer,
        claims,
        service_account_id: fields.account,
        scopes: [...fields.scopes],
        most_minutes: fields.minutes,
        jwks: keys,
        ...(fields.audience === '' ? {} : { audience: fields.audience }),
      }
      await (issuer === null ? createIssuer(org, body, key) : updateIssuer(org, issuer.id, body))
      await queryClient.invalidateQueries({ queryKey: issuersQuery(org).queryKey })
    },
    onSuccess() {
      showToast(
        issuer === null ? 'Its tokens are exchanged from now on.' : 'Saved. Tokens given before have ended.',
      )
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title={issuer === null ? 'New trusted issuer' : 'Edit the trusted issuer'}
      size="wide"
      action={issuer === null ? 'Trust this issuer' : 'Save'}
      isBusy={save.isPending}
      disabledReason={fields.scopes.length === 0 ? 'Choose what its tokens may do' : undefined}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Issuer"
        type="url"
        value={fields.issuer}
        required
        placeholder="https://tokens.example.com"
        hint="The iss of its tokens, exactly."
        onValue={(value) => set({ issuer: value })}
      />
      <TextArea
        label="Which of its tokens"
        value={fields.claims}
        required
        placeholder="sub = release-server"
        spellCheck={false}
        hint="A line for each claim. Lines with the same name: one or the other. Texts are compared exactly."
        onValue={(value) => set({ claims: value })}
      />
      <SelectField
        label="Service account"
        value={fields.account}
        required
        hint="Programs with such a token act as this account."
        onValue={(account) => set({ account })}
      >
        <option value="">Choose one</option>
        {accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {showLabel(name)}
          </option>
        ))}
      </SelectField>
      <ScopeChoice offered={accountScopes} chosen={fields.scopes} onChange={(scopes) => set({ scopes })} />
      <NumberField
        label="Minutes until they expire"
        value={fields.minutes}
        min={1}
        max={60}
        onValue={(minutes) => set({ minutes: minutes ?? 60 })}
      />
      <TextField
        label="Audience"
        value={fields.audience}
        hint="What its tokens have as aud. Empty: the address of this entry in the API."
        onValue={(audience) => set({ audience })}
      />
      <TextArea
        label="Keys"
        value={fields.keys}
        spellCheck={false}
        hint="Public keys as a JSON Web Key Set. Empty: they are found at the issuer (OpenID Connect)."
        onValue={(value) => set({ keys: value })}
      />
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
