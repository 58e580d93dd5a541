// Uses the methods of Efí's official Node.js client (1.x or 2.x) against the sandbox. Only the host is replaced.
// Arguments: the folder node_modules, the sandbox's address, client id, client secret, Pix key, any readable file.
// Prints one line per answer that the client's own schema refuses: the method, a tab, and the path in the answer.
const assert = require('node:assert/strict');
const path = require('node:path');

const [modules, base, client_id, client_secret, chave, file] = process.argv.slice(2);
const packageFolder = path.join(modules, 'sdk-node-apis-efi');
const isFirst = require(path.join(packageFolder, 'package.json')).version.startsWith('1.');

if (isFirst) {
  // The addresses of 1.x are inside its bundle.
  const axios = require(path.join(modules, 'axios'));
  const redirect = (config) => ({ ...config, url: config.url.replace('https://pix-h.api.efipay.com.br', base) });
  const create = axios.create.bind(axios);
  axios.create = (...options) => {
    const made = create(...options);
    made.interceptors.request.use(redirect);
    return made;
  };
  axios.interceptors.request.use(redirect);
} else {
  const { endpoints } = require(path.join(packageFolder, 'dist/cjs/internal/constants/endpoints.js'));
  endpoints.APIS.PIX.URL.SANDBOX = base;
}
const sdk = require(packageFolder);
const Client = sdk.default ?? sdk;
const options = { sandbox: true, client_id, client_secret, certificate: file, pemKey: file };
const efi = new Client(options);

const SCHEMAS = {
  pixReceivedList: 'PixListReceivedResponseSchema',
  getAccountBalance: 'GetAccountBalanceResponseSchema',
};
let checks = 0;

// Calls a method, and validates the answer with the client's schema where the client has one.
async function call(method, params, body) {
  const answer = await efi[method](params, body);
  const schema = sdk[SCHEMAS[method] ?? `${method[0].toUpperCase()}${method.slice(1)}ResponseSchema`];
  checks += 1;
  for (const issue of schema?.safeParse(answer).error?.issues ?? []) {
    const keys = issue.keys ? ` ${issue.keys.join(' ')}` : '';
    console.log(`${method}\t${issue.path.join('.')} ${issue.code}${keys}`);
  }
  return answer;
}

// Calls a method that is refused. Returns the refusal.
async function refusal(method, params, body) {
  checks += 1;
  try {
    await efi[method](params, body);
  } catch (error) {
    return error;
  }
  throw new Error(`${method} is not refused`);
}

const kind = (refused) => refused.nome ?? refused.error ?? String(refused.type).split('/').pop();

async function control(method, where, body) {
  const reply = await fetch(base + where, {
    method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' },
  });
  assert.equal(reply.status, 200, `${where}: ${await reply.clone().text()}`);
  return reply.json();
}

async function until(method, params, status) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await call(method, params);
    if (answer.status === status) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${method} is never ${status}`);
}

async function main() {
  const period = { inicio: '2020-01-01T00:00:00Z', fim: '2100-01-01T00:00:00Z' };
  const payout = (valor) => ({ valor, pagador: { chave }, favorecido: { chave: 'ana@example.com' } });
  const webhookUrl = 'https://shop.example/hook';
  const txid = `${isFirst ? 'first' : 'second'}${'0'.repeat(25)}`;
  const cob = {
    calendario: { expiracao: 3600 }, devedor: { cpf: '52998224725', nome: 'Ana Lima' },
    valor: { original: '10.50' }, chave, solicitacaoPagador: 'Pedido 1',
  };

  // Webhooks, and the rule that a send needs one.
  const bare = await refusal('pixSend', { idEnvio: 'sent1' }, payout('1.00'));
  assert.equal(kind(bare), 'chave_invalida');
  assert.match(bare.mensagem, /webhook/);
  assert.equal((await call('pixConfigWebhook', { chave }, { webhookUrl })).webhookUrl, webhookUrl);
  assert.equal((await call('pixDetailWebhook', { chave })).webhookUrl, webhookUrl);
  assert.equal((await call('pixListWebhook', period)).webhooks.length, 1);
  assert.equal(kind(await refusal('pixDetailWebhook', { chave: 'ana@example.com' })), 'WebhookNaoEncontrado');

  // Charges.
  assert.equal((await call('pixCreateCharge', { txid }, cob)).status, 'ATIVA');
  assert.equal((await call('pixCreateImmediateCharge', {}, cob)).valor.original, '10.50');
  assert.equal(kind(await refusal('pixCreateCharge', { txid }, cob)), 'txid_duplicado');
  assert.equal((await call('pixUpdateCharge', { txid }, { valor: { original: '12.00' } })).revisao, 1);
  assert.equal((await call('pixDetailCharge', { txid })).valor.original, '12.00');
  assert.equal((await call('pixListCharges', period)).cobs.length, 2);
  assert.equal(kind(await refusal('pixDetailCharge', { txid: '0'.repeat(30) })), 'CobNaoEncontrado');
  assert.equal(
    kind(await refusal('pixCreateCharge', { txid: '1'.repeat(30) }, { ...cob, valor: { original: '1' } })),
    'CobOperacaoInvalida',
  );

  // A received Pix and its return.
  const { endToEndId } = await control('POST', `/sandbox/cob/${txid}/pay`, {});
  const e2eId = endToEndId;
  assert.equal((await call('pixDetailReceived', { e2eId })).valor, '12.00');
  assert.equal((await call('pixReceivedList', period)).pix.length, 1);
  assert.equal((await call('pixDetailCharge', { txid })).status, 'CONCLUIDA');
  assert.equal((await call('pixDevolution', { e2eId, id: 'back1' }, { valor: '2.00' })).status, 'EM_PROCESSAMENTO');
  const returned = await until('pixDetailDevolution', { e2eId, id: 'back1' }, 'DEVOLVIDO');
  assert.equal(returned.valor, '2.00');
  await call('pixDetailReceived', { e2eId });
  await call('pixReceivedList', period);
  await call('pixDetailCharge', { txid });
  await call('pixListCharges', period);

  // The balance, and sent Pix.
  assert.match((await call('getAccountBalance', { bloqueios: true })).bloqueios.total, /^\d+\.\d\d$/);
  const sent = await call('pixSend', { idEnvio: 'sent1' }, payout('1.00'));
  assert.equal(sent.status, 'EM_PROCESSAMENTO');
  assert.equal(kind(await refusal('pixSend', { idEnvio: 'sent1' }, payout('1.00'))), 'id_envio_duplicado');
  const invalid = await refusal('pixSend', { idEnvio: 'sent2' }, payout('1,00'));
  assert.deepEqual([kind(invalid), invalid.erros[0].caminho], ['json_invalido', '.body.valor']);
  await until('pixSendDetailId', { idEnvio: 'sent1' }, 'REALIZADO');
  const byId = await call('pixSendDetail', { [isFirst ? 'e2eid' : 'e2eId']: sent.endToEndId });
  assert.equal(byId.idEnvio, 'sent1');
  assert.equal((await call('pixSendList', period)).pix.length, 1);
  assert.equal(kind(await refusal('pixSendDetailId', { idEnvio: 'sent2' })), 'PixEnviadoNaoEncontrado');

  // Infractions.
  await control('POST', `/sandbox/pix/${endToEndId}/infraction`, {});
  const { infracoes } = await call('medList', period);
  const { idInfracao } = infracoes[0];
  const defense = { analise: 'rejeitado', justificativa: 'Foi entregue.' };
  await call('medDefense', { idInfracao }, defense);
  assert.equal(kind(await refusal('medDefense', { idInfracao }, defense)), 'InfracaoOperacaoInvalida');
  assert.equal((await call('medList', period)).infracoes[0].status, 'EM_DEFESA');

  await call('pixDeleteWebhook', { chave });
  const stranger = new Client({ ...options, client_secret: 'another' });
  await assert.rejects(stranger.pixListCharges(period));
  console.error(`${checks} calls`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
