/** Without the currency, which the head of the column names. Small amounts have more digits, so that a cheap job does not cost nothing. */
export const formatAmount = (amount: number): string =>
  amount.toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: amount > 0 && amount < 1 ? 4 : 2,
  })
