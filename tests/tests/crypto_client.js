// Uses the published client nowpayments-js without changes: payments, payouts with their verification, lists and notifications.
const assert = require('assert'), crypto = require('crypto'), http = require('http');
const NowPayments = require('nowpayments-js');
const [base, apiKey, email, password, ipnSecret, totpSecret] = process.argv.slice(2);
const pay = new NowPayments({ apiKey, email, password, ipnSecret });
const client = pay.client;
client.http.defaults.baseURL = base + '/v1';

// Repeats a look for ten seconds.
async function until(what, look) {
  for (let i = 0; i < 100; i++) {
    const found = await look();
    if (found) return found;
    await new Promise(resume => setTimeout(resume, 100));
  }
  throw new Error(what);
}

// The TOTP code of an instant (RFC 6238).
function code(secret, atS) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret].map(c => alphabet.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map(byte => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atS / 30)));
  const tag = crypto.createHmac('sha1', key).update(counter).digest();
  const number = tag.readUInt32BE(tag[19] & 15) & 0x7fffffff;
  return String(number % 1000000).padStart(6, '0');
}

(async () => {
  const received = [];
  const server = http.createServer((request, reply) => {
    let text = '';
    request.on('data', part => { text += part; });
    request.on('end', () => {
      const body = JSON.parse(text);
      received.push({ body, valid: pay.ipn.verifySignature(body, request.headers['x-nowpayments-sig']) });
      reply.end();
    });
  });
  await new Promise(resume => server.listen(0, '127.0.0.1', resume));
  const ipn_callback_url = `http://127.0.0.1:${server.address().port}/ipn`;

  assert.strictEqual((await pay.getStatus()).message, 'OK');
  assert((await client.getCurrencies()).currencies.includes('btc'));
  assert((await client.getFullCurrencies()).currencies.some(coin => coin.code === 'USDTBSC'));
  assert((await client.getMerchantCoins()).selectedCurrencies.includes('trx'));
  assert.strictEqual((await client.getMinimumPaymentAmount('trx', 'trx', 'usd')).min_amount, 12.5);
  assert.strictEqual((await client.getEstimatedPrice(100, 'usd', 'trx')).estimated_amount, 400);

  const payment = await client.createPayment({
    price_amount: 100, price_currency: 'usd', pay_currency: 'trx', order_id: 'dep_js', ipn_callback_url,
  });
  assert.strictEqual(typeof payment.payment_id, 'string');
  await client.http.post(`${base}/sandbox/payment/${payment.payment_id}/pay`, {});
  const finished = await until('a finished payment', async () => {
    const found = await client.getPaymentStatus(payment.payment_id);
    return found.payment_status === 'finished' && found;
  });
  assert.strictEqual(String(finished.payment_id), payment.payment_id);
  await client.authenticate();
  const listed = await client.authenticatedRequest('get', '/payment/', { params: { limit: 10, page: 0, orderBy: 'desc' } });
  assert.deepStrictEqual([listed.data[0].order_id, listed.total], ['dep_js', 1]);

  const batch = await client.createBatchPayout([
    { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', currency: 'trx', amount: 50, unique_external_id: 'out_js' },
  ], ipn_callback_url);
  assert.deepStrictEqual([batch.withdrawals[0].status, batch.withdrawals[0].amount], ['WAITING', '50']);
  // The client has no method for the verification, so its general one is used.
  const verified = await client.authenticatedRequest('post', `/payout/${batch.id}/verify`, {
    verification_code: code(totpSecret, Date.now() / 1000),
  });
  assert.strictEqual(verified, 'OK');
  await until('a finished payout', async () => (await client.getPayoutStatus(batch.id))[0].status === 'FINISHED');
  const payouts = (await client.getPayouts({ batch_id: batch.id })).payouts;
  assert.deepStrictEqual(payouts.map(payout => payout.unique_external_id), ['out_js']);

  await until('all notifications', async () =>
    received.some(ipn => ipn.body.payment_status === 'finished') && received.some(ipn => ipn.body.status === 'FINISHED'));
  assert(received.every(ipn => ipn.valid), JSON.stringify(received));
  await assert.rejects(client.getPaymentStatus(12), { code: 'NOT_FOUND', statusCode: 404 });
  await assert.rejects(client.createPayment({ price_amount: 0.1, price_currency: 'usd', pay_currency: 'trx' }),
    { code: 'AMOUNT_MINIMAL_ERROR', statusCode: 400 });
  server.close();
  server.closeAllConnections();
})().catch(error => { console.error(error); process.exit(1); });
