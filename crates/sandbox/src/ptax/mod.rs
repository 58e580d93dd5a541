//! The PTAX service of the Central Bank (Olinda, `OData`): rates of the dollar in BRL, by the simulator's clock.

mod bulletins;
pub mod control;
mod error;
mod odata;

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Map, Value, json};

use self::odata::{Function, Query};
use crate::{psp::Psp, requests::Operation};

pub use bulletins::Ptax;
pub use error::PtaxError;

/// The first part of every path, as at the Central Bank.
pub const PATH: &str = "/olinda/servico/PTAX/versao/v1/odata/";

/// `GET …/odata/CotacaoDolarDia(dataCotacao=…)` and `…/CotacaoDolarPeriodo(dataInicial=…,dataFinalCotacao=…)`: lists the bulletins of a day
/// or a period that are published already, by default the oldest first. Without such a bulletin the list is empty.
///
/// # Errors
/// 404 for an unknown function. 400 for invalid dates, and for unknown or invalid parameters.
pub async fn rates(
    request: HttpRequest,
    function: web::Path<String>,
    psp: web::Data<Arc<Psp>>,
) -> Result<HttpResponse, PtaxError> {
    psp.requests.count(Operation::PtaxRate);
    let mut query = Query::parse(request.query_string())?;
    let Function { name, from, to } = Function::parse(&function, &mut query)?;
    let options = query.options()?;
    let mut bulletins = psp.ptax.published(from, to, psp.clock.now());
    if options.is_descending {
        bulletins.reverse();
    }
    let row = |bulletin: bulletins::Bulletin| {
        let number = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let fields = [
            ("cotacaoCompra", number(&bulletin.buy)),
            ("cotacaoVenda", number(&bulletin.sell)),
            ("dataHoraCotacao", bulletin.published_at.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string().into()),
        ];
        let selected = fields.into_iter().filter(|(name, _)| options.selects(name));
        Value::Object(selected.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
    };
    let rows: Vec<Value> = bulletins.into_iter().skip(options.skip).take(options.top).map(row).collect();
    let context = format!("https://was-p.bcnet.bcb.gov.br{PATH}$metadata#_{name}");
    let body = json!({ "@odata.context": context, "value": rows });
    let content_type = "application/json;odata.metadata=minimal";
    Ok(HttpResponse::Ok().content_type(content_type).body(body.to_string()))
}
