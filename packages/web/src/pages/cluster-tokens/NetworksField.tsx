import { TextField } from '../../parts/Field.tsx'

export const NetworksField = ({ value, onValue }: { value: string; onValue: (value: string) => void }) => (
  <TextField
    label="Allowed networks"
    value={value}
    placeholder="10.0.0.0/8 192.168.1.4"
    maxLength={10_000}
    autoComplete="off"
    hint="Separated by spaces. Empty: any address."
    onValue={onValue}
  />
)
