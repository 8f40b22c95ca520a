import { accountScopes } from '../me/scopes.ts'
import { TokenDialog } from '../me/TokenDialog.tsx'
import { createToken, type ServiceAccount } from './queries.ts'

interface Props {
  org: string
  account: ServiceAccount
  onCreated: () => Promise<unknown>
  onClose: () => void
}

/** Only tokens of people may be valid for ever. */
const longestDays = 365

export const NewAccountTokenDialog = ({ org, account, onCreated, onClose }: Props) => (
  <TokenDialog
    title={`New token of ${account.name}`}
    doneTitle={`The new token of ${account.name}`}
    offered={accountScopes}
    onCreate={async ({ description, scopes, days }, key) => {
      const made = await createToken(
        { org, id: account.id },
        { description, scopes, expires_in_days: days ?? longestDays },
        key,
      )
      await onCreated()
      return made
    }}
    onClose={onClose}
  />
)
